// The keyboard of a visible terminal: keys and pastes on their way to the program, and who has it.

import { readPaste } from './clipboard.js';
import { confirmPaste } from './dialogs.js';
import { bytes, text } from './input.js';
import { prefixHint } from './keyhelp.js';
import { KittyKeys } from './kittykeys.js';
import { modifiers } from './modifiers.js';
import { Predictions } from './predict.js';
import { Prefix, prefixKey } from './prefix.js';
import { nameOfHolder } from './reducers.js';
import { SoftKeys } from './softkeys.js';
import { filesOf } from './upload.js';

/**
 * @typedef {import('./terminal.js').TerminalView} TerminalView
 * @typedef {import('./reducers.js').Claim} Claim
 */

/** How long somebody pauses at least between two things that they type, in milliseconds. */
const pause = 1000;

export class Keyboard {
  lastKey = 0; // when a key was typed
  pasting = false;
  /** @type {string[]} Who asks for it, the first one first. */
  asks = [];
  asked = ''; // whom this page has asked for it
  refusal = ''; // the last notice that said who has it, instead of typing
  refusedAt = -Infinity; // when a key was last refused
  late = false; // it came by itself while somebody was typing
  /** @type {string | null} What is typed while the host is asked for the keyboard; null: it is not. */
  early = null;
  /** @type {Promise<void> | null} While the host is asked for it. */
  taking = null;
  /** @type {Set<string>} The keys that are down and that the program has not been told of. */
  kept = new Set();

  /** @param {TerminalView} view */
  constructor(view) {
    this.view = view;
    this.connection = view.connection;
    this.term = view.screen.term;
    this.input = this.connection.inputs.of(view.uri);
    this.changed = () => view.changed();
    this.input.addEventListener('change', this.changed);
    this.prefix = new Prefix(this);
    this.kitty = new KittyKeys(this.term);
    this.predictions = new Predictions(view);
    new SoftKeys(view.element, (data) => this.term.input(data));
    this.term.onData((data) => this.typed(text(data)));
    this.term.onBinary((data) => this.report(bytes(data)));
    this.term.attachCustomKeyEventHandler((e) => this.key(e));
    view.element.addEventListener('focusout', () => this.prefix.cancel());
    view.element.addEventListener('paste', (e) => {
      e.preventDefault();
      e.stopPropagation();
      const files = filesOf(e.clipboardData);
      if (files.length) view.dispatchEvent(new CustomEvent('files', { detail: files }));
      else void this.paste(e.clipboardData?.getData('text/plain') ?? '');
    }, true);
  }

  dispose() {
    this.prefix.cancel();
    this.predictions.dispose();
    this.input.removeEventListener('change', this.changed);
  }

  /** Whether what is typed here reaches the program. */
  get holds() {
    const s = this.view.state;
    return !s.exited && !this.view.ended && !this.view.missing && !this.view.away && s.claim.kind === 'client' && s.claim.clientId === this.connection.clientId;
  }

  /** Whether the first key takes it: nobody else would lose it, and it is not here. */
  get unused() {
    const { connection, uri, state } = this.view;
    return connection.status === 'ready' && !connection.observer && connection.unused.has(uri) && !this.holds && !state.exited && !this.view.away;
  }

  /** What the list tells of the keyboard that is here: by what name, and who has it when it is handed back. */
  get told() {
    return this.holds && this.view.info?.claim.clientId === this.connection.clientId ? this.view.meta : {};
  }

  /**
   * claimed comes when somebody else has the keyboard than before.
   * @param {Claim} before
   * @param {boolean} own Whether it was done here.
   */
  claimed(before, own) {
    const was = before.clientId === this.connection.clientId;
    this.view.retract(this.refusal);
    if (was && !this.holds) this.view.tellHolder();
    this.late = !was && this.holds && !own;
    if (this.late) {
      const from = nameOfHolder(before, this.view.info);
      this.notice(this.asked ? `${from} gave you the keyboard` : `you have the keyboard, from ${from}`);
    } else if (!was && this.asked && !own) {
      this.view.tellHolder();
    }
    this.asked = '';
    this.asks = [];
  }

  take() { return this.taking ??= this.claim().finally(() => { this.taking = null; }); }

  async claim() {
    this.asked = ''; // it is not given
    this.view.focus(); // now: later the person may be elsewhere
    const claim = { kind: 'client', clientId: this.connection.clientId };
    this.early ??= '';
    try {
      await this.connection.dispatch(this.view.uri, { type: 'terminal/claimed', claim });
      const { early } = this;
      this.early = null;
      if (early) this.send(early);
    } catch (e) {
      this.refusedEarly();
      const reason = /** @type {Error} */ (e).message;
      if (/only an admin/.test(reason)) {
        this.heldBy('ask for it with Ctrl-\\ a, or take it as an admin, as you are with ssh, or in a page with --role admin');
      } else this.notice(this.view.missing ? this.view.absence : reason);
    }
  }

  /** refusedEarly tells that what was typed while the host was asked is not sent. */
  refusedEarly() {
    const n = this.early?.length ?? 0;
    this.early = null;
    if (!n) return;
    this.refusedAt = performance.now();
    this.notice(`${n === 1 ? '1 character was' : `${n} characters were`} not sent`);
  }

  /**
   * askedBy comes when others ask for it than before.
   * @param {string[]} asks
   * @param {string} [by] Who has just asked.
   */
  askedBy(asks, by) {
    if (!this.holds) return;
    for (const name of asks) {
      if (name !== by && this.asks.includes(name)) continue;
      this.notice(name === asks[0] ? `${name} asks for the keyboard: Ctrl-\\ r gives it` :
        `${name} asks for the keyboard, too: Ctrl-\\ r gives it to ${asks[0]}`);
    }
    for (const name of this.asks) { // when the connection is made anew, the host tells who does still
      if (asks.includes(name) || this.connection.status !== 'ready') continue;
      this.notice(`${name} does not ask for the keyboard any more`);
    }
    this.asks = asks;
  }

  /**
   * handBack gives it to the first who has asked for it, or else back to whoever had it before.
   * @param {boolean} quiet Whether it is nothing to tell that nobody had it.
   */
  async handBack(quiet = false) {
    if (!this.holds) return;
    const asked = this.asks.length > 0, back = await this.request('termhost/handBack', { asked });
    if (!back) return;
    if (back.to) return this.notice(back.asked ? `you gave ${back.to} the keyboard` : `handed back to ${back.to}`);
    if (quiet) return;
    if (asked) return this.notice('Nobody asks for it any more: you have it still.');
    this.notice('It is yours: it was not taken from anybody.');
  }

  /** ask asks the holder for it. */
  async ask() {
    const asked = await this.request('termhost/ask');
    if (!asked) return;
    this.asked = asked.holder;
    this.notice(asked.here ? `you asked ${asked.holder} for the keyboard` :
      `${asked.holder} is not here, and will be asked on coming back within ten minutes`);
  }

  /** guard turns the terminal's guard on or off. */
  async guard() {
    const on = !this.view.meta.guarded;
    if (!await this.request('termhost/guard', { on })) return;
    this.notice(on ? `${this.view.name} is guarded: what agents type waits for your yes` :
      `${this.view.name} is not guarded: agents type without asking`);
  }

  /**
   * request asks the host for something about this terminal's keyboard, and returns its answer; null:
   * it was refused, and the person has been told.
   * @param {string} method
   * @param {object} [more]
   */
  async request(method, more) {
    try {
      return await this.connection.request(method, { channel: this.view.uri, ...more }) ?? {};
    } catch (e) {
      this.notice(/** @type {Error} */ (e).message);
      return null;
    }
  }

  /** @param {string} key */
  command(key) { this.view.dispatchEvent(new CustomEvent('command', { detail: key })); }

  /** @param {boolean} on */
  hint(on) { prefixHint(on); }

  /** @param {string} text */
  notice(text) { this.view.notice(text); }

  /** @param {string} data What xterm.js makes of keys, the mouse and the focus. */
  typed(data) {
    if (/^\x1b\[(?:[IO]$|<)/.test(data)) return this.report(data);
    this.lastKey = Date.now();
    if (this.pasting) this.send(data);
    else this.prefix.typed(modifiers.apply(data));
  }

  /** @param {string} data What the mouse or the focus has done: no keys. */
  report(data) { if (this.holds && this.input.open) this.input.type(data); }

  /** @param {string} data */
  send(data) {
    if (this.early !== null) this.early += data;
    else if (this.input.stopped) this.input.type(data); // it is kept with the rest
    else if (this.holds && ['refused', 'replaced'].includes(this.connection.status)) {
      this.notice('What you type here is not sent');
    } else if (this.holds && !this.goesOn()) {
      this.input.type(data);
      if (this.input.open) this.predictions.typed(data);
    } else if (this.unused) {
      this.early = data;
      void this.take();
    } else if (this.holds) this.notice('You have the keyboard now, and what you are typing was not sent: begin anew');
    else this.refuse();
  }

  /** goesOn tells whether this is the rest of what was refused before the keyboard came by itself. */
  goesOn() {
    const now = performance.now();
    this.late &&= now - this.refusedAt < pause;
    if (this.late) this.refusedAt = now;
    return this.late;
  }

  /** refuse says why nothing can be typed. */
  refuse() {
    this.refusedAt = performance.now();
    if (this.view.ended) this.notice(this.view.ended);
    else if (this.view.missing) this.notice(this.view.absence);
    else if (this.view.away) this.notice(`${this.view.away}: what you type is not sent`);
    else if (this.view.state.exited) this.notice('The program has ended.');
    else this.heldBy('take it with Ctrl-\\ c, or ask for it with Ctrl-\\ a');
  }

  /** @param {string} advice What to do about it that somebody else has the keyboard. */
  heldBy(advice) {
    this.view.retract(this.refusal);
    this.refusal = `The keyboard is with ${this.view.holder}: ${advice}`;
    this.notice(this.refusal);
  }

  /**
   * here tells whether the keyboard is here, and takes it for that if nobody else would lose it. If it
   * is not, the person has been told why.
   */
  async here() {
    if (this.unused || this.taking) await this.take();
    else if (!this.holds) this.refuse();
    return this.holds;
  }

  /**
   * key keeps from the program what the page needs itself, and encodes what xterm.js cannot. It
   * returns whether xterm.js goes on with the key.
   * @param {KeyboardEvent} e
   */
  key(e) {
    if (e.type === 'keypress') return true;
    const down = e.type === 'keydown';
    if (!down ? this.kept.delete(e.code) || !this.holds || this.prefix.pending : this.keeps(e)) return true;
    if (down && this.acts(e)) return false;
    const data = this.kitty.encode(e);
    if (data === null) return true;
    e.preventDefault();
    this.term.input(data);
    return false;
  }

  /**
   * keeps tells whether a key that was pressed is the prefix, comes behind it, or changes the size of
   * the browser's letters.
   * @param {KeyboardEvent} e
   */
  keeps(e) {
    const keeps = this.prefix.pending || e.ctrlKey && !e.altKey && ['\\', '+', '=', '-', '0'].includes(e.key);
    if (keeps) this.kept.add(e.code);
    else this.kept.delete(e.code);
    return keeps;
  }

  /** What the prefix key sends to the program. */
  get ownPrefix() { return this.kitty.disambiguates ? '\x1b[92;5u' : prefixKey; }

  /**
   * acts does what keys of the page are for, and tells whether this one is.
   * @param {KeyboardEvent} e
   */
  acts(e) {
    if (!e.ctrlKey || !e.shiftKey || e.altKey || e.metaKey) return false;
    switch (e.code) {
      case 'KeyC':
        void navigator.clipboard?.writeText(this.term.getSelection());
        break;
      case 'KeyV':
        void readPaste().then((p) => typeof p === 'string' ? this.paste(p) :
          this.view.dispatchEvent(new CustomEvent('files', { detail: p })), () =>
          this.notice('The browser does not give the clipboard away: paste with its own menu.'));
        break;
      case 'KeyF':
        this.view.dispatchEvent(new Event('find'));
        break;
      default:
        return false;
    }
    this.kept.add(e.code);
    e.preventDefault();
    return true;
  }

  /**
   * paste returns whether the program gets the text.
   * @param {string} text
   */
  async paste(text) {
    const clean = withoutEnds(text);
    if (clean && (this.unused || this.taking)) await this.take();
    if (!clean || !this.holds) {
      if (clean) this.send(clean); // which says why it goes nowhere
      return false;
    }
    const lines = clean.split(/\r\n|\r|\n/).length;
    if (lines > 1 && !this.term.modes.bracketedPasteMode) {
      if (!await confirmPaste(clean, lines)) {
        this.view.focus();
        return false;
      }
    }
    this.lastKey = Date.now();
    this.pasting = true;
    this.term.paste(clean);
    this.pasting = false;
    this.view.focus();
    return true;
  }
}

/**
 * withoutEnds leaves out what would end a bracketed paste. Where that is there again once it has been
 * left out, somebody means harm, and no escape character is left in.
 * @param {string} text
 */
function withoutEnds(text) {
  const end = '\x1b[201~', clean = text.replaceAll(end, '');
  return clean.includes(end) ? clean.replaceAll('\x1b', '') : clean;
}

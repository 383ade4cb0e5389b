// What agents want to type into a guarded terminal, for a person to decide about. It is shown as the
// host has cut it into parts, all of it. Its buttons answer once the same ask has stood on the screen
// for a while: a click or a key that was meant for something else, or for the ask before it, decides
// nothing.

import { button, fill, h } from './dom.js';
import { oneLine } from './format.js';
import { InView } from './inview.js';
import { drawLines } from './signs.js';

/**
 * @typedef {{ask: string, by: string, since: string, does: string, text: string, secret?: boolean,
 *   lines?: import('./signs.js').Part[][], hidden?: number, warning?: string, all?: boolean}} Ask
 * @typedef {'yes' | 'no' | 'all' | 'edit'} Decision
 */

/** How long an ask must have stood on the screen, in milliseconds. */
const standing = 700;
/** How much of what has been read stays in sight when the person reads on, in lines. */
const overlap = 1;

/** What comes of it, in two parts: a word that stands out, and the rest. @type {Record<string, string[]>} */
const words = {
  runs: ['runs', 'what it types here:'], types: ['types', 'this, and does not press Enter:'],
  acts: ['acts', 'at once, without Enter, by typing this:'],
  starts: ['starts', 'a terminal with this:'],
};
const answers = ['answers', 'the question for a secret with:'];

export class Asks {
  /** @type {Ask | undefined} What is shown. */
  ask;
  key = '';
  read = 0; // how far down the text has been in sight, in pixels
  size = ''; // of the text
  deciding = false;
  pressed = ''; // the ask that could be answered when the button or key was pressed that is down; "": none is
  connected = true;

  /** @param {(ask: string, decision: Decision, reason: string) => Promise<boolean>} decide false: it failed. */
  constructor(decide) {
    this.decide = decide;
    this.more = h('span', { class: 'more' });
    this.text = h('div', { class: 'said', tabIndex: 0, role: 'document', 'aria-label': 'What it wants to type', 'data-scrolls': '' });
    this.text.addEventListener('scroll', () => this.seen());
    this.on = button('Read on', '', () => this.readOn());
    this.state = h('span', { class: 'hint', role: 'status' });
    this.element = h('section', { class: 'asks', 'aria-label': 'Approvals', hidden: true });
    this.reason = h('input', { 'aria-label': 'Reason', placeholder: 'Reason', autocomplete: 'off', spellcheck: false, maxLength: 200,
      onkeydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter' && !e.isComposing && !e.repeat) this.answer('no'); } });
    /** @type {Record<Decision, HTMLButtonElement>} */
    this.buttons = {
      yes: this.button('Approve', 'yes', 'primary'), edit: this.button('Edit', 'edit'),
      all: this.button('Yes to all', 'all'), no: this.button('Refuse', 'no'),
    };
    this.view = new InView(this.element);
    this.view.addEventListener('look', () => this.look());
    this.resized = new ResizeObserver(() => this.fitted());
    this.press = () => { this.pressed = this.ask && this.may('no') ? this.ask.ask : '-'; };
    this.release = () => void setTimeout(() => { this.pressed = ''; }); // behind the click
  }

  /**
   * @param {string} name
   * @param {Decision} decision
   * @param {string} [className]
   */
  button(name, decision, className = '') {
    return h('button', { type: 'button', class: className, disabled: true,
      onkeydown: (/** @type {KeyboardEvent} */ e) => { if (e.repeat) e.preventDefault(); },
      onclick: (/** @type {MouseEvent} */ e) => { if (e.detail < 2) this.answer(decision); } }, name);
  }

  /**
   * @param {Ask[]} asks The first one is decided first.
   * @param {boolean} connected Whether the host hears what is decided.
   */
  draw(asks, connected) {
    const first = asks[0], key = JSON.stringify([first?.ask, first?.does, first?.warning, !!first?.all]);
    if (connected !== this.connected) this.restart();
    this.connected = connected;
    this.more.textContent = asks.length > 1 ? `${asks.length - 1} more behind it` : '';
    if (key === this.key) return;
    this.key = key;
    const other = first?.ask !== this.ask?.ask;
    this.ask = first;
    if (other) {
      this.deciding = false;
      this.reason.value = '';
    }
    this.element.hidden = !first;
    this.listen(!!first);
    if (!first) return this.view.end();
    const had = this.element.contains(document.activeElement) && other;
    this.fill(first);
    if (had) this.text.focus(); // not a button: a key that is still down would press it
    this.restart();
    this.view.watch();
  }

  /** @param {Ask} ask */
  fill(ask) {
    const [does, what] = ask.secret ? answers : words[ask.does] ?? [ask.does, 'this:'], lines = ask.lines ?? [];
    fill(this.text, ask.secret ? h('p', {}, 'a secret, which nothing else reads') : drawLines(lines));
    this.text.classList.remove('open');
    this.text.scrollTop = 0;
    const signs = ask.hidden === 1 ? '1 sign stands' : `${ask.hidden} signs stand`;
    fill(this.element,
      h('p', { class: 'who' }, h('strong', {}, oneLine(ask.by, 300)), ' ', h('b', { class: 'does' }, does), ` ${what} `, this.more),
      ask.warning ? h('p', { class: 'hint' }, oneLine(ask.warning, 400)) : null,
      this.text, this.on,
      ask.hidden ? h('p', { class: 'hint' }, `${signs} for what would not be seen, or would act.`) : null,
      h('div', { class: 'choice' }, this.buttons.yes, this.buttons.edit, ask.all && this.buttons.all,
        h('span', { class: 'refuse' }, this.reason, this.buttons.no)),
      this.state);
  }

  /** @param {boolean} on Whether what is pressed matters. */
  listen(on) {
    const heard = (/** @type {string} */ type, /** @type {() => void} */ f) =>
      on ? addEventListener(type, f, true) : removeEventListener(type, f, true);
    for (const type of ['pointerdown', 'keydown']) heard(type, this.press);
    for (const type of ['pointerup', 'pointercancel', 'keyup']) heard(type, this.release);
    if (on) this.resized.observe(this.text);
    else this.resized.disconnect();
  }

  dispose() {
    this.listen(false);
    this.view.end();
  }

  /** restart has the ask stand on the screen anew, and be read anew. */
  restart() {
    this.read = this.text.scrollTop = 0;
    this.view.restart();
    this.show();
  }

  /** fitted comes when there is another room for the text. It is read anew if its lines break elsewhere. */
  fitted() {
    const { clientWidth, scrollHeight } = this.text, size = `${clientWidth} ${scrollHeight}`;
    if (size === this.size) this.view.restart();
    else this.restart();
    this.size = size;
  }

  look() {
    this.seen();
    this.show();
  }

  /** seen notes what of the text is in sight. What is jumped over is not read. */
  seen() {
    const { scrollTop, clientHeight } = this.text;
    if (!this.view.clear || scrollTop > this.read + 1 || scrollTop + clientHeight <= this.read) return;
    if (this.read) this.view.stood = 0; // there is more of it now than has stood there
    this.read = scrollTop + clientHeight;
  }

  /** Whether all of the text has been in sight. */
  get whole() {
    const { secret, lines } = this.ask ?? {};
    return !!secret || !!lines?.length && this.read >= this.text.scrollHeight - 1;
  }

  readOn() {
    this.text.classList.add('open');
    const line = parseFloat(getComputedStyle(this.text).lineHeight) || 18;
    this.text.scrollTop = Math.max(0, this.read - overlap * line);
    this.text.focus();
  }

  /** @param {Decision} decision */
  may(decision) {
    return this.connected && !this.deciding && this.view.stood >= standing && (decision === 'no' || this.whole);
  }

  /** show says what can be answered now, and why not. */
  show() {
    for (const [decision, b] of Object.entries(this.buttons)) b.disabled = !this.may(/** @type {Decision} */ (decision));
    const line = parseFloat(getComputedStyle(this.text).lineHeight) || 18;
    const left = Math.ceil((this.text.scrollHeight - Math.max(this.read, this.text.clientHeight)) / line - 0.1);
    this.on.hidden = this.whole || left <= 0;
    const label = `${left} more ${left === 1 ? 'line' : 'lines'}, read on`;
    if (this.on.textContent !== label) this.on.textContent = label;
    const state = !this.connected ? 'Not connected.' : this.deciding ? 'Deciding\u2026' :
      this.view.timer && !this.view.clear ? 'It can be answered when all of it is in view, with nothing over it.' :
        !this.whole && this.view.clear ? 'It can be approved once all of it has been read.' : '';
    if (this.state.textContent !== state) this.state.textContent = state;
  }

  /** @param {Decision} decision */
  answer(decision) {
    const { ask } = this;
    if (!ask || !this.may(decision) || this.pressed && this.pressed !== ask.ask) return;
    this.deciding = true;
    this.show();
    void this.decide(ask.ask, decision, decision === 'no' ? this.reason.value.trim() : '').then((done) => {
      if (done || this.ask !== ask) return;
      this.deciding = false;
      this.restart();
    });
  }
}

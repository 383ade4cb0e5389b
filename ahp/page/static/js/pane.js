// A pane: a terminal with its bar, its commands and its search field.

import { Asks } from './asks.js';
import { button, fill, h, writing } from './dom.js';
import { Cut, FitOffer } from './cut.js';
import { dragsFrom, dropsOn } from './drag.js';
import { Edge } from './edge.js';
import { notice, retract } from './dialogs.js';
import { Commands } from './commands.js';
import { outcome } from './format.js';
import { Find } from './find.js';
import { readLines, readLog, readOutput, readRecordings, save } from './history.js';
import { icon } from './icons.js';
import { LinesView, linesBelow } from './lines.js';
import { menu } from './menu.js';
import { AskOutcome } from './outcome.js';
import { Output } from './output.js';
import { PlainText } from './plaintext.js';
import { pathOf } from './reducers.js';
import { Replay } from './replay.js';
import { TerminalView } from './terminal.js';
import { Unsent } from './unsent.js';
import { takesFiles, Upload } from './upload.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {{focus(name: string): void, split(name: string, dir: 'h' | 'v'): void,
 *   close(name: string): void, rename(name: string): void, end(name: string): void,
 *   command(name: string, key: string): void,
 *   place(moved: string[], target: string, side: import('./drag.js').Side): void,
 *   decide(name: string, ask: string, decision: import('./asks.js').Decision, reason: string): Promise<boolean>,
 *   commands(): boolean, showCommands(on: boolean): void}} Actions
 */

/** How long the host is not asked again for older lines, when there were none, in ms. */
const askAgain = 2000;

export class Pane {
  asking = false; // the host has been asked for its lines
  emptyShown = false; // the commands are shown though there is none: the person wants to see why
  askedAt = -Infinity; // when there were none older than the page's

  /**
   * @param {Connection} connection
   * @param {string} name
   * @param {Actions} actions
   * @param {{debug: boolean}} options
   */
  constructor(connection, name, actions, options) {
    this.connection = connection;
    this.options = options;
    this.name = name;
    this.actions = actions;
    this.view = new TerminalView(connection, name, options);
    const home = () => pathOf(connection.directory);
    this.commands = new Commands({ choose: (c) => this.showOutput(c), home, closed: () => this.view.focus() });
    this.output = new Output({ cols: () => this.view.state.cols, home, closed: () => this.outputClosed(),
      read: (c) => readOutput(connection, this.view.uri, c.id) });
    this.lines = new LinesView(connection, { name, cols: () => this.view.state.cols,
      closed: () => this.view.focus() });
    this.finder = new Find(connection, this.view, this.lines, () => this.source());
    this.title = h('strong', {});
    this.who = h('span', { class: 'who' });
    this.keyboard = h('span', { class: 'keyboard' });
    this.guarded = h('span', { class: 'guarded', title: 'What agents type waits for a person\u2019s yes' },
      icon('guard'), 'guarded');
    this.size = h('span', { class: 'size' });
    this.edge = new Edge(this.view, () => void this.fit());
    this.more = this.menu();
    this.split = button('Split', 'Split', () => actions.split(name, 'h'), 'quiet');
    const names = h('span', { class: 'names' }, this.title, this.who);
    dragsFrom(names, () => [name]);
    this.bar = h('header', { class: 'bar' }, names,
      this.keyboard, this.guarded, this.size, this.edge.element,
      h('span', { class: 'gap' }), this.finder.element,
      button('Find', 'Find', () => this.openSearch(), 'quiet'),
      this.split,
      button('Commands', 'Commands', () => this.toggleCommands(), 'quiet'), this.more,
      button('Close this view', '\u00d7', () => actions.close(name), 'icon'));
    // In the order of the Tab key, which a terminal keeps to itself: it comes last.
    this.body = h('div', { class: 'body' });
    this.overlay = h('p', { class: 'overlay', hidden: true });
    this.asks = new Asks((ask, decision, reason) => this.decide(ask, decision, reason));
    this.outcome = new AskOutcome(connection);
    this.unsent = new Unsent(this.view);
    this.upload = new Upload(this.view);
    this.cut = new Cut(this.view);
    this.offer = new FitOffer(this.view, () => void this.fit());
    this.body.append(h('div', { class: 'cards' }, this.offer.element, this.upload.element, this.unsent.element, this.outcome.element, this.asks.element), this.output.element, this.lines.element, this.finder.everywhere.element, this.commands.element, this.view.element, ...this.cut.elements, this.overlay);
    this.element = h('section', { class: 'pane' }, this.bar, this.body);
    this.bar.addEventListener('mousedown', (e) => { // which would take the focus from the terminal
      if (e.target instanceof Element && e.target.closest('button')) e.preventDefault();
    });
    names.addEventListener('click', () => this.view.focus()); // from which it has taken the focus
    this.element.addEventListener('focusin', () => actions.focus(name));
    this.element.addEventListener('pointerdown', () => actions.focus(name));
    this.view.element.addEventListener('focusin', () => this.coverWithCommands(false));
    this.view.addEventListener('state', () => this.draw());
    this.view.addEventListener('command', (e) => actions.command(name, /** @type {CustomEvent} */ (e).detail));
    dropsOn(this.element, (moved, side) => actions.place(moved, name, side));
    takesFiles(this.element, this.view);
    this.view.addEventListener('find', () => this.openSearch());
    this.bar.addEventListener('input', (e) => this.found(/** @type {HTMLInputElement} */ (e.target).value));
    this.bar.addEventListener('keydown', (e) => { if (e.key === 'Escape') this.found(''); });
    this.view.element.addEventListener('wheel', (e) => { if (e.deltaY < 0) this.olderLines(); },
      { capture: true, passive: true });
    this.view.screen.addEventListener('older', (e) => {
      if (this.lines.shown) this.lines.body.scrollBy(0, -/** @type {CustomEvent} */ (e).detail);
      else this.olderLines();
    });
    this.view.element.addEventListener('keydown', (e) => {
      if (e.shiftKey && e.key === 'PageUp') this.olderLines();
    }, true);
    this.view.addEventListener('notice', (e) => notice(/** @type {CustomEvent} */ (e).detail));
    this.view.addEventListener('retract', (e) => retract(/** @type {CustomEvent} */ (e).detail));
    this.draw();
  }

  /** drawName shows what the terminal is called now. */
  drawName() {
    const called = this.connection.called(this.name);
    if (called === this.title.textContent) return;
    this.title.textContent = this.title.title = called;
    this.element.setAttribute('aria-label', `Terminal ${called}`);
    this.view.element.dataset.terminal = called;
  }

  menu() {
    return menu([
      { label: 'Find', narrow: true, run: () => this.openSearch() },
      { label: 'Commands', narrow: true, run: () => this.coverWithCommands(true) },
      { label: 'Split', detail: 'side by side', narrow: true, run: () => this.actions.split(this.name, 'h') },
      { label: 'Split', detail: 'one above the other', run: () => this.actions.split(this.name, 'v') },
      { label: 'History', detail: 'all lines that are kept', run: () => this.history(false) },
      { label: 'Replay', run: () => this.replay() },
      { label: 'Save as text', run: () => this.save('text') },
      { label: 'Save raw', detail: 'byte for byte', run: () => this.save('raw') },
      { label: 'Save as cast', detail: 'asciicast', run: () => this.save('cast') },
      { label: 'Plain text', detail: 'to read, or to have read', run: () => this.plainText() },
      { label: 'Give it a file', detail: 'and paste its path', run: () => this.upload.choose() },
      { label: 'Fit to this window', run: () => this.fit() },
      { label: 'Rename', run: () => this.actions.rename(this.name) },
      { label: 'Take the keyboard', className: 'takes', run: () => void this.view.keyboard.take() },
      { label: 'Ask for the keyboard', run: () => void this.view.keyboard.ask() },
      { label: 'Guard', detail: 'agents type after your yes, or no longer', run: () => void this.view.keyboard.guard() },
      { label: 'End it', run: () => this.actions.end(this.name) },
    ], () => this.view.focus());
  }

  draw() {
    const v = this.view, s = v.state, { status, known } = this.connection;
    this.drawName();
    if (this.connection.observer) this.more.querySelector('.takes')?.remove();
    this.split.hidden = !this.connection.maker;
    this.element.classList.toggle('held', v.holds);
    this.element.classList.toggle('unused', v.unused);
    this.element.classList.toggle('stale', known && status !== 'ready' || v.missing || !!v.ended || !!v.away);
    // Not before the first one has ended: a program that has just begun would be resized.
    const commands = this.actions.commands() && (this.emptyShown || s.commands.some((c) => c.done));
    this.element.classList.toggle('with-commands', commands);
    this.size.textContent = v.shown ? `${s.cols}\u00d7${s.rows}` : '';
    this.edge.draw();
    this.commands.draw(s);
    this.asks.draw(s.exited || v.missing || v.ended ? [] : s.asks, status === 'ready' && !v.away);
    this.unsent.draw();
    this.guarded.hidden = !v.meta.guarded || s.exited;
    if (v.ended) {
      this.overlayText(`${v.ended}. Open it again to come back.`);
    } else if (v.missing) {
      this.overlayText(v.absence);
    } else {
      this.overlayText(v.shown ? '' : v.away ? `${v.away}. It is shown when its host is back.` : 'Loading\u2026');
    }
    if (!v.shown || v.missing || v.ended) return fill(this.who), fill(this.keyboard);
    if (v.away) return fill(this.who, v.away), fill(this.keyboard);
    if (s.exited) {
      const o = outcome(s.exitCode);
      fill(this.who, h('span', { class: `mark ${o.kind}`, 'aria-hidden': 'true' }, o.mark), `exited, ${o.words}`);
      return fill(this.keyboard);
    }
    const own = v.keyboard.told.holder ?? '', among = /#\d+$/.test(own); // a page among others of one person
    fill(this.who, !v.holds ? `keyboard: ${v.holder}` : among ? `you have the keyboard, as ${own}` : 'you have the keyboard');
    this.drawKeyboard();
  }

  /** drawKeyboard leaves the button alone that is there already: somebody may be clicking on it. */
  drawKeyboard() {
    const v = this.view, { keyboard } = v;
    const may = !this.connection.observer && !v.state.client;
    const label = !may ? '' : v.unused ? 'type to take it' : !v.holds ? 'Take the keyboard' : keyboard.asks.length ? 'Hand it over' :
      keyboard.told.lender ? 'Hand back' : '';
    if (label === this.keyboard.textContent) return;
    fill(this.keyboard, v.unused ? h('span', { class: 'hint' }, label) : label && button(label, label, () => void (v.holds ? keyboard.handBack() : keyboard.take())));
  }

  /** @param {string} text */
  overlayText(text) {
    this.overlay.hidden = !text;
    this.overlay.textContent = text;
  }

  /** focusBar leads from the terminal to what lies over it for the person to decide, or to the first of its buttons. */
  focusBar() {
    for (const el of [...this.body.querySelectorAll('.cards :is(.said, button)'), ...this.bar.querySelectorAll('button, summary')]) {
      if (el instanceof HTMLElement && el.offsetParent && (el.tabIndex >= 0)) return el.focus();
    }
  }

  /**
   * decide answers what an agent wants to type; false: it is not decided.
   * @param {string} ask
   * @param {import('./asks.js').Decision} decision
   * @param {string} reason
   */
  decide(ask, decision, reason) {
    if (decision === 'edit') this.view.focus(); // now: later the person may be elsewhere
    return this.actions.decide(this.name, ask, decision, reason);
  }

  /**
   * lookAt tells what has become of an ask, unless that is here to be decided.
   * @param {string} ask
   */
  lookAt(ask) { void this.outcome.look(this.view.uri, ask); }

  // The output of a command, which covers the terminal.

  plainText() {
    const text = new PlainText(this.view, () => this.view.focus());
    this.body.querySelector('.plain')?.remove();
    this.body.append(text.element);
    text.read();
  }

  /** fit gives the program the size that this window has room for. */
  async fit() {
    if (await this.view.keyboard.here()) this.view.ask();
  }

  toggleCommands() {
    this.emptyShown = !this.element.classList.contains('with-commands');
    this.actions.showCommands(this.emptyShown);
  }

  /**
   * coverWithCommands shows the commands where there is no room for them beside the terminal.
   * @param {boolean} on
   */
  coverWithCommands(on) {
    this.element.classList.toggle('commands-over', on);
    if (on) (this.commands.element.querySelector('button') ?? this.commands.element).focus();
  }

  /** @param {import('./reducers.js').Command} c */
  showOutput(c) {
    this.coverWithCommands(false);
    if (this.output.command?.id === c.id) return this.output.close();
    this.lines.close();
    this.commands.chosen = c.id;
    this.output.show(c);
    this.commands.draw(this.view.state);
  }

  outputClosed() {
    this.commands.chosen = '';
    this.commands.draw(this.view.state);
    this.view.focus();
  }

  // What the host keeps.

  /**
   * source is what there is to read: the terminal's log, or of one that is gone its newest recording.
   * @returns {Promise<import('./history.js').Source>}
   */
  async source() {
    if (!this.view.missing) return { channel: this.view.uri };
    const newest = (await readRecordings(this.connection, this.view.uri)).at(-1);
    if (!newest) throw new Error(`Nothing is kept of ${this.name}.`);
    return { recording: newest.recording };
  }

  replay() {
    if (this.body.querySelector('.replay')) return;
    const replay = new Replay(this.connection, { uri: this.view.uri, name: this.name, debug: this.options.debug,
      missing: this.view.missing, done: () => { if (!writing()) this.view.focus(); } });
    this.body.append(replay.element);
    replay.open().catch((e) => { notice(e.message); replay.close(); });
  }

  /** @param {'text' | 'raw' | 'cast'} form */
  async save(form) {
    const name = this.name.replace('/', '-') + { text: '.txt', raw: '.log', cast: '.cast' }[form];
    try {
      save(name, await readLog(this.connection, await this.source(), form));
    } catch (e) {
      notice(/** @type {Error} */ (e).message);
    }
  }

  /**
   * history goes over from the terminal into all lines that the host keeps, at the same place.
   * @param {boolean} older Only if there are lines before the page's first one.
   */
  async history(older) {
    if (this.lines.shown || this.asking) return;
    this.asking = true;
    try {
      const source = await this.source(), kept = await readLines(this.connection, source, null, 0, 0);
      const { term } = this.view.screen, { viewportY } = term.buffer.normal;
      if (older && kept.total <= linesBelow(term, 0)) {
        this.askedAt = performance.now();
        return;
      }
      this.finder.current = Math.max(0, kept.total - linesBelow(term, viewportY));
      this.finder.match = -1;
      await this.lines.show(source, kept, this.finder.current);
      if (older) this.lines.body.scrollBy(0, -60);
    } catch (e) {
      notice(/** @type {Error} */ (e).message);
    } finally {
      this.asking = false;
    }
  }

  /** olderLines comes when the person scrolls up: beyond the page's first line there may be others. */
  olderLines() {
    const { buffer, modes } = this.view.screen.term;
    if (buffer.active.type !== 'normal' || buffer.active.viewportY > 0 || modes.mouseTrackingMode !== 'none') return;
    if (performance.now() - this.askedAt > askAgain) void this.history(true);
  }

  /** @param {string} [text] What is looked for at once. */
  openSearch(text) { this.finder.open(text); }

  /**
   * found tells the address what is looked for in the bar's only field.
   * @param {string} text
   */
  found(text) { this.bar.dispatchEvent(new CustomEvent('found', { bubbles: true, detail: text })); }

  open() { this.view.open(); }

  dispose() {
    this.asks.dispose();
    this.commands.dispose();
    this.lines.dispose();
    this.view.dispose();
    this.element.remove();
  }
}

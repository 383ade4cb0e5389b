// Find: first in what the page has of a terminal, which is searched as it is typed, then in all that
// the host keeps of it.

import { button, h } from './dom.js';
import { notice } from './dialogs.js';
import { findLines } from './history.js';
import { linesBelow } from './lines.js';

/** How long the text must stay before the host is asked, in ms. */
const settle = 200;

/** @typedef {Awaited<ReturnType<typeof findLines>> & {source: import('./history.js').Source}} Found */

export class Find {
  /** @type {Found | null} What the host has found of the text. */
  found = null;
  timer = 0;
  current = 0; // the line that was gone to last

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {import('./terminal.js').TerminalView} view
   * @param {import('./lines.js').LinesView} lines
   * @param {() => Promise<import('./history.js').Source>} source What the host looks in.
   */
  constructor(connection, view, lines, source) {
    this.connection = connection;
    this.view = view;
    this.lines = lines;
    this.source = source;
    this.field = h('input', {
      type: 'search', 'aria-label': 'Find', placeholder: 'Find', spellcheck: false, title: 'Enter: further up; Shift-Enter: further down',
      oninput: () => this.typed(), onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e),
    });
    this.count = h('span', { class: 'count', role: 'status' });
    this.element = h('span', { class: 'find', hidden: true }, this.field, this.count,
      button('Previous match', '\u2191', () => this.step(-1), 'icon'),
      button('Next match', '\u2193', () => this.step(1), 'icon'),
      button('Close the search', '\u00d7', () => this.close(), 'icon'));
  }

  get text() { return this.field.value; }

  /** Capitals count if there are any. */
  get options() { return { caseSensitive: this.text !== this.text.toLowerCase() }; }

  /**
   * open shows the field.
   * @param {string} [text] What to search for, unless it is for the person to say.
   */
  open(text) {
    this.element.hidden = false;
    this.field.focus();
    if (text) {
      this.field.value = text;
      this.typed();
    }
    this.field.select();
  }

  close() {
    this.element.hidden = true;
    this.view.search.clearDecorations();
    this.lines.paint('');
    this.lines.close();
    this.view.focus();
  }

  typed() {
    clearTimeout(this.timer);
    this.found = null;
    this.count.textContent = '';
    if (this.lines.shown) this.lines.paint(this.text);
    else this.view.search.findPrevious(this.text, { ...this.options, incremental: true });
    if (this.text) this.timer = window.setTimeout(() => this.askSoon(), settle);
  }

  /** askSoon asks once there is a connection: a text may come with the page's address. */
  askSoon() {
    if (this.connection.status === 'ready') return this.tried(this.ask());
    const { text } = this;
    this.connection.addEventListener('status', () => {
      if (text === this.text && !this.element.hidden && !this.found) this.askSoon();
    }, { once: true });
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (e.key === 'Escape') this.close();
    else if (e.key === 'Enter' && this.text && !e.isComposing) this.step(e.shiftKey ? 1 : -1);
    else return;
    e.preventDefault();
  }

  /** @param {1 | -1} direction 1: further down */
  step(direction) { if (this.text) this.tried(this.go(direction)); }

  /** @param {Promise<any>} p */
  tried(p) { p.catch((e) => notice(e.message)); }

  /** ask has the host look for the text, in what is shown of its lines, or else in all that there are now. */
  async ask() {
    clearTimeout(this.timer);
    const text = this.text;
    const { shown, place } = this.lines, source = shown ? this.lines.source : await this.source();
    const found = { source, ...await findLines(this.connection, source, place, text) };
    if (text !== this.text) return null;
    if (this.lines.shown) found.lines = found.lines.map((n) => n + this.lines.total - found.total);
    const n = found.lines.length;
    this.count.textContent = n ? `${found.more ? 'more than ' : ''}${n.toLocaleString()} ${n === 1 ? 'line' : 'lines'}` : 'not found';
    return this.found = found;
  }

  /** @param {1 | -1} direction 1: further down */
  async go(direction) {
    if (this.lines.shown) return this.goOn(direction);
    if (direction > 0) return this.view.search.findNext(this.text, this.options);
    const before = this.selected();
    if (this.view.search.findPrevious(this.text, this.options) && (before < 0 || this.selected() < before)) return;
    // The page has no other above. What the host has in the lines above those of the page?
    const found = await this.ask();
    if (!found) return;
    const { term } = this.view.screen, alternate = term.buffer.active.type === 'alternate';
    const above = found.total - (alternate ? 0 : linesBelow(term, 0));
    const line = found.lines.findLast((n) => n < above);
    if (line === undefined) return;
    this.current = line;
    await this.lines.show(found.source, found, line);
    await this.showLine();
  }

  /** @param {1 | -1} direction */
  async goOn(direction) {
    const { place } = this.lines;
    const found = this.found && this.found.at === place?.at && this.found.items === place?.items ? this.found : await this.ask();
    if (!found?.lines.length) return;
    const { lines } = found, { current } = this;
    this.current = direction > 0 ? lines.find((n) => n > current) ?? lines[0] :
      lines.findLast((n) => n < current) ?? lines[lines.length - 1];
    await this.showLine();
  }

  async showLine() {
    this.lines.paint(this.text);
    await this.lines.go(this.current, 'center');
    this.field.focus();
  }

  /** selected says where what was found in the page is, as a number that grows downwards; -1: nowhere. */
  selected() {
    const at = this.view.screen.term.getSelectionPosition()?.start;
    return at ? at.y * 100_000 + at.x : -1;
  }
}

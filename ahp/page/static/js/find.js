// Find: first in what the page has of a terminal, which is searched as it is typed, then in all that
// the host keeps of it.

import { button, h } from './dom.js';
import { notice } from './dialogs.js';
import { FindAll } from './findall.js';
import { findLines, placesOf } from './history.js';
import { linesBelow } from './lines.js';
import { settings } from './theme.js';

/** How long the text must stay before the host is asked, in ms. */
const settle = 200;

/** What the matches look like in a terminal, and the one that was gone to, by theme. */
const marks = {
  dark: marked('#6b5300', '#b58900'), light: marked('#ffe58a', '#ffb52e'), contrast: marked('#6b5300', '#c0a000'),
};

/**
 * @param {string} background
 * @param {string} active
 */
function marked(background, active) {
  return { matchBackground: background, activeMatchBackground: active, matchOverviewRuler: background,
    activeMatchColorOverviewRuler: active };
}

/** @typedef {Awaited<ReturnType<typeof findLines>> & {source: import('./history.js').Source}} Found */

export class Find {
  /** @type {Found | null} What the host has found of the text. */
  found = null;
  timer = 0;
  current = 0; // the line that was gone to last
  match = -1; // which of its matches; -1: none
  named = false; // the text came with the page's address, and is to be gone to wherever it is
  searched = 0; // how many lines the page had when it was searched last

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
    this.everywhere = new FindAll(connection, () => this.field.focus());
    this.element = h('span', { class: 'find', hidden: true }, this.field, this.count,
      button('Previous match', '\u2191', () => this.step(-1), 'icon'),
      button('Next match', '\u2193', () => this.step(1), 'icon'),
      button('Search all terminals', 'All', () => this.text && void this.everywhere.show(this.text), 'quiet'),
      button('Close the search', '\u00d7', () => this.close(), 'icon'));
  }

  get text() { return this.field.value; }

  /** Capitals count if there are any. */
  get options() {
    return { caseSensitive: this.text !== this.text.toLowerCase(), decorations: marks[settings.resolved] };
  }

  /**
   * open shows the field.
   * @param {string} [text] What to search for, unless it is for the person to say.
   */
  open(text) {
    this.element.hidden = false;
    // The match that was gone to is selected, and the selection is drawn over its mark.
    const { activeMatchBackground: color } = marks[settings.resolved];
    this.view.screen.term.options.theme = { ...settings.drawing.theme, selectionBackground: color, selectionInactiveBackground: color };
    this.field.focus();
    if (text) {
      this.field.value = text;
      this.typed();
      this.named = true;
    }
    this.field.select();
  }

  close() {
    this.element.hidden = true;
    this.everywhere.close();
    this.view.search.clearDecorations();
    this.view.screen.term.options.theme = settings.drawing.theme;
    this.lines.paint('');
    this.lines.close();
    this.view.focus();
  }

  typed() {
    clearTimeout(this.timer);
    this.found = null;
    this.named = false;
    this.match = this.lines.match = -1;
    this.count.textContent = '';
    if (this.lines.shown) this.lines.paint(this.text);
    else {
      this.searched = this.drawn;
      this.view.search.findPrevious(this.text, { ...this.options, incremental: true });
    }
    if (this.text) this.timer = window.setTimeout(() => this.askSoon(), settle);
  }

  /** askSoon asks once there is a connection: a text may come with the page's address. */
  askSoon() {
    const { text } = this;
    if (this.connection.status === 'ready') return this.tried(this.ask().then((found) => found && this.lookAgain(text)));
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
  step(direction) { if (this.text) this.tried(this.go(direction).then(() => this.tell())); }

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
    this.found = found;
    this.tell();
    return found;
  }

  /**
   * lookAgain goes to the last match once the page has drawn all, unless it had when it was searched.
   * @param {string} text
   */
  async lookAgain(text) {
    if (!this.lines.shown) await this.view.untilDrawn();
    if (text !== this.text || this.lines.shown) return;
    if (this.searched !== this.drawn || !this.at()) {
      this.view.screen.term.clearSelection();
      this.searched = this.drawn;
      if (!this.view.search.findPrevious(text, this.options) && this.named) await this.go(-1);
    }
    this.tell();
  }

  /** How many lines the page has. */
  get drawn() { return this.view.screen.term.buffer.normal.length; }

  /** tell says how many matches there are, and which of them the person is at. */
  tell() {
    const { found } = this;
    if (!found) return;
    const n = sum(found.counts), all = `${found.more ? 'more than ' : ''}${n.toLocaleString()}`;
    const at = this.at(), i = at ? found.lines.indexOf(at.line) : -1;
    this.count.textContent = !n ? 'not found' : !at || i < 0 ? `${all} ${n === 1 ? 'match' : 'matches'}` :
      `${(sum(found.counts.slice(0, i)) + Math.min(at.match + 1, found.counts[i])).toLocaleString()} of ${all}`;
  }

  /** at returns the line that was found last, and which of its matches; null: it has none. */
  at() {
    if (this.lines.shown) return this.match < 0 ? null : { line: this.current, match: this.match };
    const { term } = this.view.screen, at = term.getSelectionPosition()?.start;
    if (!at || !this.found || term.buffer.active.type === 'alternate') return null;
    const { normal } = term.buffer;
    let { y } = at, before = normal.getLine(y)?.translateToString(false, 0, at.x) ?? '';
    for (; y > 0 && normal.getLine(y)?.isWrapped; y--) before = (normal.getLine(y - 1)?.translateToString() ?? '') + before;
    return { line: this.found.total - linesBelow(term, y), match: placesOf(before, this.text).length };
  }

  /** @param {1 | -1} direction 1: further down */
  async go(direction) {
    if (this.lines.shown) return this.goOn(direction);
    this.searched = this.drawn;
    if (direction > 0) return this.view.search.findNext(this.text, this.options);
    const before = this.selected();
    if (this.view.search.findPrevious(this.text, this.options) && (before < 0 || this.selected() < before)) return;
    // The page has no other above. What the host has in the lines above those of the page?
    const found = await this.ask();
    if (!found) return;
    const { term } = this.view.screen, alternate = term.buffer.active.type === 'alternate';
    const above = found.total - (alternate ? 0 : linesBelow(term, 0));
    const i = found.lines.findLastIndex((n) => n < above);
    if (i < 0) return;
    this.current = found.lines[i];
    this.match = found.counts[i] - 1;
    await this.lines.show(found.source, found, this.current);
    await this.showLine();
  }

  /** @param {1 | -1} direction */
  async goOn(direction) {
    const { place } = this.lines;
    const found = this.found && this.found.at === place?.at && this.found.items === place?.items ? this.found : await this.ask();
    if (!found?.lines.length) return;
    const { lines, counts } = found, { current } = this, match = this.match + direction;
    if (match >= 0 && match < (counts[lines.indexOf(current)] ?? 0)) this.match = match;
    else {
      const i = direction > 0 ? Math.max(0, lines.findIndex((n) => n > current)) :
        (lines.findLastIndex((n) => n < current) + lines.length) % lines.length;
      this.current = lines[i];
      this.match = direction > 0 ? 0 : counts[i] - 1;
    }
    await this.showLine();
  }

  async showLine() {
    this.lines.paint(this.text);
    await this.lines.goTo(this.current, this.match);
    this.field.focus();
  }

  /** selected says where what was found in the page is, as a number that grows downwards; -1: nowhere. */
  selected() {
    const at = this.view.screen.term.getSelectionPosition()?.start;
    return at ? at.y * 100_000 + at.x : -1;
  }
}

/** @param {number[]} numbers */
function sum(numbers) { return numbers.reduce((a, b) => a + b, 0); }

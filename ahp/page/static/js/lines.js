// All lines that the host keeps of a terminal, over the terminal. They may be far more than a page can
// hold, so they are in pieces, and only those in sight are there. The rest is empty room.

import { button, fill, h } from './dom.js';
import { notice } from './dialogs.js';
import { placesOf, readLines } from './history.js';
import { rich } from './rich.js';
import { settings } from './theme.js';
import { wrapButton } from './wrap.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {import('./history.js').Place} Place
 * @typedef {import('./history.js').Source} Source
 * @typedef {{el: HTMLElement, from: number, count: number, lines: HTMLElement[] | null, filled: Promise<void> | null}} Piece
 */

/** How many lines a piece has, unless there were too many pieces then. */
const pieceLines = 200;
const mostPieces = 2000;
/** How far beyond what is in sight lines are kept, in pixels. */
const margin = '1200px';

/** How far beyond the last line a finger must want to go to be led back to the terminal, in pixels. */
const beyond = 40;

/** What is found, in all views: the browser paints it (the CSS Custom Highlight API). */
const found = globalThis.Highlight ? new Highlight() : null;
/** The match that was gone to. */
const gone = globalThis.Highlight ? new Highlight() : null;
if (found && gone) {
  CSS.highlights.set('found', found);
  CSS.highlights.set('gone-to', gone);
  gone.priority = 1;
}

/**
 * linesBelow returns how many lines there are on a terminal from a row of its main screen on: those
 * that were wrapped count once, and the empty ones at the end do not.
 * @param {import('../vendor/xterm.mjs').Terminal} term
 * @param {number} row
 */
export function linesBelow(term, row) {
  const buffer = term.buffer.normal;
  let end = buffer.length;
  while (end > row && !buffer.getLine(end - 1)?.translateToString(true)) end--;
  let n = 0;
  for (let y = row; y < end; y++) if (!buffer.getLine(y)?.isWrapped || y === row) n++;
  return n;
}

export class LinesView {
  /** @type {Piece[]} */
  pieces = [];
  per = pieceLines;
  /** @type {Source} What they are lines of. */
  source = { channel: '' };
  /** @type {Place | null} Up to where in the history the lines are; null: nothing is shown. */
  place = null;
  total = 0;
  lost = 0; // how many lines at the beginning are gone since
  text = ''; // what is searched for
  current = -1; // the line that stands out; -1: none
  match = -1; // which of its matches stands out; -1: none
  /** @type {Range | null} That match, if its line is there. */
  range = null;
  /** @type {Range[]} */
  ranges = [];

  /**
   * @param {Connection} connection
   * @param {{name: string, cols(): number, closed(): void}} o
   */
  constructor(connection, o) {
    this.connection = connection;
    this.o = o;
    this.what = h('span', { class: 'what' });
    let from = 0;
    this.body = h('div', { class: 'text kept', tabIndex: 0, role: 'document',
      onwheel: (/** @type {WheelEvent} */ e) => { if (e.deltaY > 0 && this.atEnd) this.close(); },
      ontouchstart: (/** @type {TouchEvent} */ e) => { from = this.atEnd ? e.touches[0].clientY : -Infinity; },
      ontouchmove: (/** @type {TouchEvent} */ e) => { if (from - e.touches[0].clientY > beyond) this.close(); } });
    this.element = h('section', {
      class: 'output lines', hidden: true, 'aria-label': `History of ${o.name}`,
      onkeydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Escape') this.close(); },
    });
    this.observer = new IntersectionObserver((entries) => {
      for (const e of entries) this.sight(e.target, e.isIntersecting);
    }, { root: this.body, rootMargin: `${margin} 0px` });
    // Other letters: the same line stays at the top.
    let top = 0;
    this.changing = () => { top = this.atEnd ? this.total - 1 : this.top; };
    this.changed = () => void this.go(top, 'start');
  }

  get shown() { return this.place !== null; }

  /** The first line in sight. */
  get top() {
    const { top } = this.body.getBoundingClientRect();
    const below = (/** @type {Element} */ el) => el.getBoundingClientRect().bottom > top + 1;
    const p = this.pieces.find((p) => below(p.el));
    return p ? p.from + Math.max(0, p.lines?.findIndex(below) ?? 0) : 0;
  }

  get atEnd() { return this.body.scrollTop + this.body.clientHeight >= this.body.scrollHeight - 2; }

  /**
   * show shows the lines that there are up to a place, at one of them.
   * @param {Source} source
   * @param {Place & {total: number, truncated: boolean}} kept
   * @param {number} line
   */
  async show(source, kept, line) {
    this.source = source;
    this.place = { at: kept.at, items: kept.items };
    this.total = kept.total;
    this.lost = 0;
    this.current = -1;
    this.match = -1;
    this.element.hidden = false;
    const wrap = wrapButton(this.body, true, () => void this.go(this.top, 'start'));
    fill(this.element, h('header', {}, this.what, wrap, button('Live', 'Live', () => this.close())), this.body);
    this.tell(kept.truncated);
    this.body.focus({ preventScroll: true }); // now: once lines have come, the keyboard may be elsewhere
    this.per = Math.max(pieceLines, Math.ceil(kept.total / mostPieces));
    this.observer.disconnect();
    this.body.style.setProperty('--cols', `${this.o.cols()}ch`);
    this.pieces = [];
    for (let from = 0; from < kept.total; from += this.per) {
      const count = Math.min(this.per, kept.total - from);
      const el = h('div', { 'data-piece': String(this.pieces.length) });
      el.style.height = `${count}lh`;
      this.pieces.push({ el, from, count, lines: null, filled: null });
    }
    fill(this.body, ...this.pieces.map((p) => p.el));
    await this.go(line, 'start');
    for (const p of this.pieces) this.observer.observe(p.el);
    settings.addEventListener('changing', this.changing);
    settings.addEventListener('change', this.changed);
  }

  /** @param {boolean} truncated Whether there were lines before the first one. */
  tell(truncated) {
    fill(this.what, h('strong', {}, 'History'), h('span', { class: 'about' },
      `${(this.total - this.lost).toLocaleString()} lines${truncated ? '; those before are gone' : ', from the first one on'}`));
  }

  close() {
    if (!this.shown) return;
    this.dispose();
    this.element.hidden = true;
    this.o.closed();
  }

  dispose() {
    this.place = null;
    this.observer.disconnect();
    settings.removeEventListener('changing', this.changing);
    settings.removeEventListener('change', this.changed);
    this.pieces = [];
    fill(this.element);
    this.paint('');
  }

  /**
   * go brings a line into sight.
   * @param {number} line
   * @param {'start' | 'center'} where
   */
  async go(line, where) {
    const p = this.pieces[Math.floor(line / this.per)];
    if (!p) return;
    p.el.scrollIntoView({ block: 'start' });
    await this.fill(p);
    const el = p.lines?.[line - p.from];
    el?.scrollIntoView({ block: where });
    if (where === 'center') this.choose(line);
  }

  /**
   * goTo brings a match of the text into sight, which stands out from now on.
   * @param {number} line
   * @param {number} match
   */
  async goTo(line, match) {
    this.match = match;
    await this.go(line, 'center');
    this.paint(this.text);
    const at = this.range?.getBoundingClientRect(), room = this.body.getBoundingClientRect();
    if (!at) return;
    if (at.top < room.top || at.bottom > room.bottom) this.body.scrollTop += (at.top + at.bottom - room.top - room.bottom) / 2;
    if (at.left < room.left || at.right > room.right) this.body.scrollLeft += (at.left + at.right - room.left - room.right) / 2;
  }

  /** @param {number} line The one that stands out from now on; -1: none. */
  choose(line) {
    this.current = line;
    this.body.querySelector('[aria-current]')?.removeAttribute('aria-current');
    const p = this.pieces[Math.floor(line / this.per)];
    p?.lines?.[line - p.from]?.setAttribute('aria-current', 'true');
  }

  /**
   * sight fills a piece that comes near, and empties one that has gone.
   * @param {Element} el
   * @param {boolean} near
   */
  sight(el, near) {
    const p = this.pieces[Number(el.getAttribute('data-piece'))];
    if (p?.el !== el) return;
    if (near) {
      this.fill(p).catch((e) => { if (this.shown) notice(e.message); });
      return;
    }
    if (!p.lines) return;
    p.el.style.height = `${p.el.offsetHeight / parseFloat(getComputedStyle(p.el).lineHeight)}lh`;
    p.lines = p.filled = null;
    fill(p.el);
    this.paint(this.text);
  }

  /** @param {Piece} p */
  fill(p) {
    p.filled ??= this.read(p).catch((e) => { p.filled = null; throw e; });
    return p.filled;
  }

  /** @param {Piece} p */
  async read(p) {
    /** @type {string[]} */
    const lines = [];
    while (lines.length < p.count && this.place) {
      const asked = this.lost, from = p.from + lines.length - asked;
      const answer = await readLines(this.connection, this.source, this.place,
        Math.max(0, from), from < 0 ? 0 : p.count - lines.length);
      const lost = this.total - answer.total;
      if (lost !== asked) { // the numbers meant other lines; another piece may have noticed before
        this.lost = Math.max(lost, this.lost);
        this.tell(answer.truncated);
        lines.length = 0;
      } else if (from < 0) {
        lines.push(...Array(Math.min(-from, p.count - lines.length)).fill('\x1b[2m(gone since)\x1b[m'));
      } else if (answer.lines.length) {
        lines.push(...answer.lines);
      } else break;
    }
    const drawn = await rich(lines.join('\r\n'), this.o.cols());
    if (!this.pieces.includes(p) || p.filled === null) return;
    while (drawn.lines.length < p.count) drawn.lines.push(h('div', {}));
    p.lines = drawn.lines;
    p.el.style.height = '';
    fill(p.el, ...p.lines);
    this.choose(this.current);
    this.paint(this.text);
  }

  /**
   * paint marks where some text is. Capitals count if there are any.
   * @param {string} text
   */
  paint(text) {
    this.text = text;
    for (const r of this.ranges) found?.delete(r);
    if (this.range) gone?.delete(this.range);
    this.ranges = [];
    this.range = null;
    if (!text) return;
    for (const line of this.pieces.flatMap((p) => p.lines ?? [])) {
      const ranges = placesOf(line.textContent ?? '', text).map((at) => rangeIn(line, at, at + text.length));
      for (const r of ranges) this.ranges.push(r);
      if (line.hasAttribute('aria-current')) this.range = ranges[this.match] ?? null;
    }
    for (const r of this.ranges) found?.add(r);
    if (this.range) gone?.add(this.range);
  }
}

/**
 * rangeIn returns a part of an element's text.
 * @param {HTMLElement} el
 * @param {number} from
 * @param {number} to
 */
function rangeIn(el, from, to) {
  const range = document.createRange(), walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  let at = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0;
    if (from >= at && from <= at + length) range.setStart(node, from - at);
    if (to >= at && to <= at + length) {
      range.setEnd(node, to - at);
      break;
    }
    at += length;
  }
  return range;
}

// On a small screen: what of a terminal is cut off at the edges of its view is said there, and that the
// program can have the screen's size instead.

import { button, fill, h } from './dom.js';
import { small } from './small.js';

/** @typedef {import('./terminal.js').TerminalView} TerminalView */

/** Cut also keeps the cursor in view, until the person scrolls away from it. */
export class Cut {
  follows = true;

  /** @param {TerminalView} view */
  constructor(view) {
    this.view = view;
    this.left = h('p', { class: 'cut left', hidden: true });
    this.right = h('p', { class: 'cut right', hidden: true });
    this.above = h('p', { class: 'cut above', hidden: true });
    this.below = h('p', { class: 'cut below', hidden: true });
    const { term } = view.screen;
    view.element.addEventListener('scroll', () => {
      this.follows = !this.away().some(Boolean);
      this.draw();
    }, { passive: true });
    view.screen.addEventListener('fit', () => requestAnimationFrame(() => { // once it is laid out
      this.follow();
      this.draw();
    }));
    term.onCursorMove(() => this.follow());
    term.onData(() => {
      this.follows = true;
      this.follow();
    });
  }

  get elements() { return [this.left, this.right, this.above, this.below]; }

  draw() {
    const { scrollLeft, scrollWidth, clientWidth, scrollTop, scrollHeight, clientHeight } = this.view.element;
    const { width, height } = this.cell();
    say(this.left, scrollLeft / width, (n) => `\u2190 ${n} more`);
    say(this.right, (scrollWidth - clientWidth - scrollLeft) / width, (n) => `${n} more \u2192`);
    say(this.above, scrollTop / height, (n) => `\u2191 ${n} more`);
    say(this.below, (scrollHeight - clientHeight - scrollTop) / height, (n) => `${n} more \u2193`);
  }

  /** cell returns what a cell takes, in pixels. */
  cell() {
    const { term, drawing } = this.view.screen;
    return { width: drawing.clientWidth / term.cols || 1, height: drawing.clientHeight / term.rows || 1 };
  }

  /** away returns how far the cursor is out of view, to the right and below, in pixels. */
  away() {
    const { element, screen: { term, drawing } } = this.view, { width, height } = this.cell();
    const { cursorX, cursorY, viewportY, baseY } = term.buffer.active;
    if (viewportY !== baseY) return [0, 0]; // older lines are shown
    const x = drawing.offsetLeft - element.offsetLeft + cursorX * width - element.scrollLeft;
    const y = drawing.offsetTop - element.offsetTop + cursorY * height - element.scrollTop;
    return [this.view.holds ? beyond(x, width, element.clientWidth) : 0, beyond(y, height, element.clientHeight)];
  }

  follow() {
    if (!this.follows) return;
    const [x, y] = this.away();
    if (x || y) this.view.element.scrollBy(x, y);
  }
}

/**
 * beyond returns how far a cell is out of what is shown, in pixels.
 * @param {number} at
 * @param {number} size
 * @param {number} room
 */
function beyond(at, size, room) {
  const over = at < 0 ? at : Math.max(0, at + size - room);
  return Math.abs(over) < 1 ? 0 : over;
}

/**
 * @param {HTMLElement} el
 * @param {number} cells
 * @param {(cells: number) => string} text
 */
function say(el, cells, text) {
  const n = Math.ceil(cells - 0.5);
  el.hidden = n < 1;
  if (n > 0 && el.textContent !== text(n)) el.textContent = text(n);
}

/**
 * FitOffer offers to give the program the size of a small screen, when its keyboard has come here, and
 * when a screen that it fitted has been turned.
 */
export class FitOffer {
  held = false;
  fitted = 0; // how many columns the screen had when the program fitted it; 0: it has not

  /**
   * @param {TerminalView} view
   * @param {() => void} fit
   */
  constructor(view, fit) {
    this.view = view;
    this.what = h('span', {});
    this.element = h('p', { class: 'offer', role: 'status', hidden: true }, this.what,
      button('Fit to this screen', 'Fit to this screen', () => { this.close(); fit(); }, 'primary'),
      button('Leave its size', '\u00d7', () => this.close(), 'icon'));
    view.addEventListener('state', () => this.draw());
    view.screen.addEventListener('fit', () => this.draw());
  }

  close() {
    this.element.hidden = true;
    this.view.focus();
  }

  draw() {
    const { holds, state: { cols, rows } } = this.view, cells = this.view.screen.cells();
    const fits = !cells || cols <= cells.cols && rows <= cells.rows;
    const turned = cells && this.fitted && cells.cols !== this.fitted; // and no keyboard has come up
    if (cells && (fits || turned)) this.fitted = holds && fits ? cells.cols : 0;
    if (holds && (!this.held || turned) && cells && small()) {
      fill(this.what, `${cols}\u00d7${rows} is more than this screen has at your size of letters.`);
      this.element.hidden = fits;
    }
    if (!holds || fits) this.element.hidden = true;
    if (cells || !holds) this.held = holds;
  }
}

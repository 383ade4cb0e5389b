// A terminal's screen: xterm.js with the host's widths and the page's colours, without its answers to
// queries. What is written here is drawn; where it comes from and who types is not known here.

import { h } from './dom.js';
import { cellsAt, fontSize } from './fit.js';
import { oneLine } from './format.js';
import { library } from './library.js';
import { sign } from './pictures.js';
import { swallowQueries } from './queries.js';
import { swipes } from './swipe.js';
import { settings } from './theme.js';
import { Widths, withoutLeading } from './widths.js';

const scrollback = 5000;
/** How much xterm.js parses without a pause, in UTF-16 units: a snapshot may be megabytes. */
const piece = 32 << 10;
/** How long an empty screen waits for what is drawn on it, in milliseconds. */
const soon = 30;

/**
 * newTerminal makes an xterm.js terminal that shows what the host's own screen shows.
 * @param {import('../vendor/xterm.mjs').ITerminalOptions & import('../vendor/xterm.mjs').ITerminalInitOnlyOptions} options
 */
export function newTerminal(options) {
  const term = new (library().Terminal)({ allowProposedApi: true, drawBoldTextInBrightColors: false, ...options });
  const widths = new Widths();
  term.unicode.register(widths);
  widths.follow(term);
  term.unicode.activeVersion = 'termhost';
  swallowQueries(term);
  return term;
}

/**
 * Screen dispatches "fit" when the room for it, or its size, has changed, and "older" when a finger
 * wants to go beyond its first line.
 */
export class Screen extends EventTarget {
  ratio = { width: 0.6, height: 1.2 };
  pictured = false; // something that was written may be the box of a picture
  clearing = 0; // the timer of a screen that is to be emptied
  epoch = 0; // of the resets: a size from before the last one does not count any more

  /** @param {{name: string, debug: boolean}} options */
  constructor({ name, debug }) {
    super();
    this.term = newTerminal({
      cols: 80, rows: 24, scrollback, fontSize: settings.size, ...settings.drawing,
      cursorInactiveStyle: 'outline',
      rightClickSelectsWord: false,
      linkHandler: {
        activate: (e, uri) => openLink(e, uri),
        hover: (_, uri) => { this.element.title = `Ctrl-click: ${target(uri)}`; },
        leave: () => { this.element.title = ''; },
      },
    });
    const { SearchAddon, WebLinksAddon } = library();
    this.search = new SearchAddon();
    this.term.loadAddon(this.search);
    this.term.loadAddon(new WebLinksAddon(openLink));
    this.drawing = h('div', { class: 'screen' });
    this.mirror = debug ? h('div', { hidden: true, 'data-screen': '' }) : null;
    this.element = h('div', { class: 'view', 'data-terminal': name }, this.drawing, this.mirror);
    if (this.mirror) this.term.onRender(() => this.reflect());
    swipes(this);
    const restyle = () => {
      Object.assign(this.term.options, settings.drawing);
      this.measure();
      this.fit();
    };
    settings.addEventListener('change', restyle);
    this.unsettle = () => settings.removeEventListener('change', restyle);
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.element);
  }

  /** open draws the terminal; its element is in the document. */
  open() {
    if (this.term.element) return;
    this.term.open(this.drawing);
    this.measure();
    this.fit();
  }

  dispose() {
    this.unsettle();
    this.observer.disconnect();
    clearTimeout(this.clearing);
    this.term.dispose();
    this.element.remove();
  }

  focus() { this.term.focus(); }

  /**
   * clear empties the screen and its history, behind what is still to be written: together with what is
   * written next, if that comes soon, so that no empty screen is seen between.
   */
  clear() {
    this.clearing ||= window.setTimeout(() => this.write(''), soon);
  }

  /**
   * reset shows something else from now on.
   * @param {number} cols
   * @param {number} rows
   * @param {string} text
   */
  reset(cols, rows, text) {
    this.epoch++;
    this.clear();
    this.resize(cols, rows);
    this.write(text);
  }

  /**
   * write draws text, then calls done: in the order of the calls, as the host said things.
   * @param {string} text
   * @param {() => void} [done]
   */
  write(text, done) {
    const shown = (this.clearing ? '\x1bc' : '') + withoutLeading(text);
    clearTimeout(this.clearing);
    this.clearing = 0;
    this.pictured ||= shown.includes(sign);
    let at = 0;
    for (; shown.length - at > piece; at += piece) this.term.write(shown.slice(at, at + piece));
    this.term.write(shown.slice(at), done);
  }

  /**
   * resize changes the size, behind what is still to be written.
   * @param {number} cols
   * @param {number} rows
   */
  resize(cols, rows) {
    const epoch = this.epoch;
    this.term.write('', () => {
      if (epoch !== this.epoch) return;
      this.term.resize(Math.max(2, cols), Math.max(1, rows));
      this.fit();
    });
  }

  /** measure finds what a cell takes, for each pixel of the letters' size. */
  measure() {
    const box = this.drawing.querySelector('.xterm-screen')?.getBoundingClientRect();
    const size = this.term.options.fontSize ?? settings.size;
    if (!box?.width) return;
    this.ratio = { width: box.width / this.term.cols / size, height: box.height / this.term.rows / size };
  }

  /** fit chooses the letters for the terminal's size. */
  fit() {
    const room = this.room();
    if (!room || !this.term.element) return;
    this.term.options.fontSize = fontSize({ ...room, cols: this.term.cols, rows: this.term.rows,
      most: settings.size, ratio: this.ratio });
    this.dispatchEvent(new Event('fit'));
  }

  /** cells returns what size there is room for, with the letters that the person has chosen. */
  cells() {
    const room = this.room();
    return room && cellsAt({ ...room, size: settings.size, ratio: this.ratio });
  }

  room() {
    const style = getComputedStyle(this.element);
    const width = this.element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const height = this.element.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
    return width > 40 && height > 20 ? { width, height } : null; // else it is hidden
  }

  /** reflect shows the visible rows to checks. */
  reflect() {
    const b = this.term.buffer.active, rows = [];
    for (let y = 0; y < this.term.rows; y++) {
      rows.push(b.getLine(b.viewportY + y)?.translateToString(true) ?? '');
    }
    this.mirror?.setAttribute('data-screen', rows.join('\n'));
  }
}

/**
 * target is where a link goes, in characters that look like nothing else.
 * @param {string} uri
 */
function target(uri) {
  try {
    return new URL(uri).href;
  } catch {
    return oneLine(uri);
  }
}

/**
 * openLink follows a link only with Ctrl, and only to the web.
 * @param {MouseEvent} e
 * @param {string} uri
 */
function openLink(e, uri) {
  if ((e.ctrlKey || e.metaKey) && /^https?:\/\//i.test(uri)) {
    window.open(uri, '_blank', 'noopener,noreferrer');
  }
}

// On a slow line, keys are shown before the program has echoed them: underlined, until it has. They
// are drawn over the terminal and are no part of it. So does mosh (Winstein and Balakrishnan, 2012),
// and the rules are like its own:
//
// Nothing is shown of what may be hidden. What is typed counts as echoed once the program has echoed
// something in the same place, or while the shell is at its prompt. Enter, any other key that is no
// character, and output that was not expected end that.

import { fill, h } from './dom.js';

/** How long an echo must have taken for the next ones to be worth a prediction, in ms. */
const worth = 100;
/** How long an echo is awaited, in ms: at least, and in times of what it took last. */
const patience = 2000, patient = 3;
/** How much may be predicted at a time, in characters. */
const most = 200;

/** @typedef {{row: number, col: number, char: string, at: number}} Prediction */

export class Predictions {
  /** @type {Prediction[]} What is not echoed yet, in order. */
  pending = [];
  echoes = false; // the program echoes what is typed here
  line = NaN; // the row, counted from the first one that there ever was, where it does
  entered = 0; // how often Enter was typed, without the end of a command since
  lag = 0; // how long an echo takes, in ms; 0: none has come yet
  timer = 0;

  /** @param {import('./terminal.js').TerminalView} view */
  constructor(view) {
    this.view = view;
    this.term = view.screen.term;
    this.element = h('span', { class: 'predicted', hidden: true, 'aria-hidden': 'true' });
    this.term.onWriteParsed(() => this.compare());
    this.term.onResize(() => this.forget());
    this.term.onScroll(() => this.draw());
    this.term.onRender(() => this.draw());
  }

  dispose() { clearTimeout(this.timer); }

  /** Whether the shell waits for a line, which it shows. */
  get atPrompt() {
    const { detection, commands } = this.view.state;
    return detection && this.entered === 0 && (commands.at(-1)?.done ?? true) && this.term.buffer.active.cursorX > 0;
  }

  /** Whether what is typed may be a secret, as far as is known. */
  get secret() { return this.view.meta.waiting === 'secret'; }

  /** The row of the cursor, counted from the beginning of the buffer. */
  get row() { return this.term.buffer.active.baseY + this.term.buffer.active.cursorY; }

  /** told comes when a command has ended. */
  told() { this.entered = Math.max(0, this.entered - 1); }

  /** @param {string} data What was typed, and is on its way. */
  typed(data) {
    if (data.includes('\r')) this.entered++;
    const { active } = this.term.buffer;
    if (active.type !== 'normal' || this.secret || this.pending.length >= most) return this.forget();
    if (data === '\x7f' && this.pending.length) { // Backspace
      this.pending.pop();
      return this.draw();
    }
    if (!/^[\x20-\x7e]$/.test(data)) return this.forget();
    const last = this.pending.at(-1), col = last ? last.col + 1 : active.cursorX;
    if (this.row !== this.line) this.echoes = false;
    this.line = this.row;
    this.echoes ||= this.atPrompt;
    this.lag ||= this.view.connection.session?.trip ?? 0;
    if (col >= this.term.cols - 1) return this.forget();
    this.pending.push({ row: this.row, col, char: data, at: performance.now() });
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.forget(), Math.max(patience, patient * this.lag));
    this.draw();
  }

  /** compare sees what the program has echoed. */
  compare() {
    const { active } = this.term.buffer, { row } = this;
    let echoed = false;
    while (this.pending.length) {
      const [p] = this.pending, has = active.getLine(p.row)?.getCell(p.col)?.getChars();
      if (row !== p.row || active.cursorX > p.col && has !== p.char) return this.forget();
      if (active.cursorX <= p.col) break;
      this.pending.shift();
      this.lag += (performance.now() - p.at - this.lag) / 4;
      echoed = true;
    }
    if (echoed && !this.pending.length) clearTimeout(this.timer);
    const expected = this.pending[0]?.col;
    if (expected !== undefined && expected !== active.cursorX) return this.forget();
    if (echoed) {
      this.echoes = true;
      if (this.view.state.commands.at(-1)?.done) this.entered = 0; // it is the shell that echoes
    } else if (row !== this.line || !this.pending.length) this.echoes = false;
    this.draw();
  }

  /** forget ends what was predicted, and what it was based on. */
  forget() {
    clearTimeout(this.timer);
    this.pending = [];
    this.echoes = false;
    this.draw();
  }

  draw() {
    if (!this.pending.length && this.element.hidden) return;
    const [first] = this.pending, { term, element } = this, { viewportY, baseY } = term.buffer.active;
    const shown = !!first && this.echoes && this.lag > worth && !this.secret && viewportY === baseY;
    element.hidden = !shown;
    if (!shown) return;
    const screen = this.view.element.querySelector('.xterm-screen'), box = screen?.getBoundingClientRect();
    if (!screen || !box?.width) return;
    if (element.parentElement !== screen) screen.append(element);
    const width = box.width / term.cols, height = box.height / term.rows;
    const { fontFamily, fontSize, theme } = term.options;
    fill(element, ...[...this.pending.map((p) => p.char), ''].map((char) => {
      const cell = h('span', {}, char);
      cell.style.width = `${width}px`;
      return cell;
    }));
    Object.assign(element.style, {
      left: `${first.col * width}px`, top: `${(first.row - baseY) * height}px`, height: `${height}px`,
      lineHeight: `${height}px`, fontFamily: String(fontFamily), fontSize: `${fontSize}px`,
      color: String(theme?.foreground), backgroundColor: String(theme?.background),
    });
  }
}

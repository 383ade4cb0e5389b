// The output of one command, over the terminal that ran it.

import { notice } from './dialogs.js';
import { commandOutcome } from './commands.js';
import { button, fill, h } from './dom.js';
import { duration, oneLine, shortPath } from './format.js';
import { rich } from './rich.js';
import { wrapButton } from './wrap.js';

/** @typedef {import('./reducers.js').Command} Command */

/** How often the output of a command that runs is drawn again, in ms. */
const redrawEvery = 500;
/** How often it is read from the host meanwhile, if that is necessary, in ms. */
const readEvery = 3000;

export class Output {
  /** @type {Command | null} */
  command = null;
  timer = 0;
  plain = '';
  read = -1; // how much the program had printed when the output was read from the host; -1: it was not

  /**
   * @param {{cols(): number, home(): string, closed(): void, read(c: Command): Promise<string>}} o read returns
   *   the output that the host keeps of a command.
   */
  constructor(o) {
    this.o = o;
    this.what = h('span', { class: 'what' });
    this.text = h('div', { class: 'text', tabIndex: 0, role: 'document' });
    this.element = h('section', {
      class: 'output', hidden: true,
      onkeydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Escape') this.close(); },
    }, h('header', {}, this.what, wrapButton(this.text, false),
      button('Copy the output', 'Copy', () => void navigator.clipboard.writeText(this.plain), 'quiet'),
      button('Close the output', '\u00d7', () => this.close(), 'icon')), this.text);
  }

  /** @param {Command} c */
  show(c) {
    this.command = c;
    this.element.hidden = false;
    this.element.setAttribute('aria-label', `Output of ${oneLine(c.line, 100)}`);
    this.read = -1;
    void this.draw(true);
    this.text.focus();
  }

  close() {
    clearTimeout(this.timer);
    this.command = null;
    this.element.hidden = true;
    this.o.closed();
  }

  /** @param {boolean} [first] */
  async draw(first = false) {
    const c = this.command;
    clearTimeout(this.timer);
    if (!c) return;
    const running = !c.done;
    if (first) this.drawHead(c);
    if (!c.whole) await this.ask(c);
    const { lines, plain } = await rich(c.output.join(''), this.o.cols());
    if (c !== this.command) return;
    const low = this.text.scrollTop + this.text.clientHeight >= this.text.scrollHeight - 4;
    this.plain = plain;
    if (lines.length) fill(this.text, ...lines);
    else fill(this.text, h('p', { class: 'empty' }, running ? 'Nothing yet.' : 'It has left nothing on the screen.'));
    this.drawHead(c);
    if (!first && low) this.text.scrollTop = this.text.scrollHeight;
    if (running) this.timer = window.setTimeout(() => void this.draw(), c.whole ? redrawEvery : readEvery);
  }

  /**
   * ask reads the output from the host, unless that has been done since the program last printed.
   * @param {Command} c
   */
  async ask(c) {
    if (this.read === c.size) return;
    if (!c.output.length) fill(this.text, h('p', { class: 'empty' }, 'Loading\u2026'));
    const { done } = c;
    try {
      const text = await this.o.read(c);
      Object.assign(c, { output: [text], size: text.length, whole: done });
      this.read = c.size;
    } catch (e) {
      c.whole = true; // there is no more
      if (!c.output.length) notice(/** @type {Error} */ (e).message);
    }
  }

  /** @param {Command} c */
  drawHead(c) {
    const o = commandOutcome(c);
    const about = [o.words, c.durationMs === undefined ? '' : duration(c.durationMs),
      c.cwd && shortPath(c.cwd, this.o.home()),
      c.by && c.by !== '-' ? c.by : '', new Date(c.at).toLocaleTimeString()];
    fill(this.what, h('span', { class: `mark ${o.kind}`, 'aria-hidden': 'true' }, o.mark),
      h('code', {}, oneLine(c.line, 300) || '(no line)'),
      h('span', { class: 'about', title: oneLine(c.cwd ?? '', 4096) }, about.filter(Boolean).map((t) => oneLine(t ?? '', 120)).join(' \u00b7 ')));
  }
}

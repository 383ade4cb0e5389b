// What a terminal has shown, played again: a timeline with its commands as marks.

import { button, fill, h } from './dom.js';
import { duration, oneLine, outcome } from './format.js';
import { readHistory } from './history.js';
import { Screen } from './screen.js';

/** @typedef {import('./history.js').Item} Item */

/** The longest time without output that is played as it was, in ms; longer ones are cut to it. */
const longestGap = 2000;
const speeds = [1, 2, 4, 16];

export class Replay {
  /** @type {Item[]} */
  items = [];
  /** @type {number[]} When each item comes, in ms of the replay. */
  times = [];
  next = 0; // the index of the first item that is not drawn
  at = 0; // where the replay is, in ms
  speed = 1;
  cut = true;
  playing = false;
  closed = false;

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {{uri: string, name: string, debug: boolean, done(): void}} o
   */
  constructor(connection, o) {
    this.connection = connection;
    this.o = o;
    this.screen = new Screen({ name: `replay of ${o.name}`, debug: o.debug });
    this.slider = h('input', { type: 'range', min: '0', max: '0', step: '1', value: '0', 'aria-label': 'Timeline',
      oninput: () => this.seek(Number(this.slider.value)) });
    this.marks = h('div', { class: 'marks' });
    this.time = h('span', { class: 'time' });
    this.play = button('Play', '\u25b6', () => this.toggle(), 'icon');
    this.faster = button('Speed', '1\u00d7', () => this.nextSpeed(), 'quiet');
    this.gaps = h('label', {}, h('input', { type: 'checkbox', checked: true,
      onchange: (/** @type {Event} */ e) => this.setCut(/** @type {HTMLInputElement} */ (e.target).checked) }),
    ' cut gaps');
    this.element = h('section', { class: 'replay', 'aria-label': `Replay of ${o.name}`,
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e) },
    this.screen.element,
    h('footer', {}, this.play, h('div', { class: 'line' }, this.marks, this.slider), this.time, this.faster,
      this.gaps, button('Live', 'Live', () => this.close())));
  }

  async open() {
    this.screen.open();
    this.items = await readHistory(this.connection, this.o.uri);
    if (this.closed) return;
    this.schedule();
    this.seek(this.length);
    this.slider.focus();
  }

  close() {
    this.closed = true;
    this.screen.dispose();
    this.element.remove();
    this.o.done();
  }

  get length() { return this.times.at(-1) ?? 0; }

  /** schedule decides when each item comes, and where the marks are. */
  schedule() {
    let at = 0, last = 0;
    this.times = this.items.map((item) => {
      const time = Date.parse(item.time), gap = last ? Math.max(0, time - last) : 0;
      last = time;
      return at += this.cut ? Math.min(gap, longestGap) : gap;
    });
    this.slider.max = String(Math.ceil(this.length));
    fill(this.marks, ...this.items.map((item, i) => item.kind === 'command' && this.mark(item, i)));
  }

  /**
   * @param {Item} item
   * @param {number} i
   */
  mark(item, i) {
    const end = this.items.slice(i + 1).find((e) => e.kind === 'finished' || e.kind === 'command');
    const o = end?.kind === 'finished' ? outcome(end.exitCode) : { kind: 'running', words: 'running' };
    const el = button(`${oneLine(item.line ?? '', 100)}, ${o.words}`, '', () => this.seek(this.times[i], i + 1), o.kind);
    el.style.left = `${this.length ? this.times[i] / this.length * 100 : 0}%`;
    return el;
  }

  /** @param {boolean} cut */
  setCut(cut) {
    const i = Math.max(0, this.next - 1);
    this.cut = cut;
    this.schedule();
    this.seek(this.times[i] ?? 0, this.next);
  }

  nextSpeed() {
    this.speed = speeds[(speeds.indexOf(this.speed) + 1) % speeds.length];
    this.faster.textContent = `${this.speed}\u00d7`;
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.at >= this.length) this.seek(0);
    this.drawControls();
    let last = performance.now();
    const step = (/** @type {number} */ now) => {
      if (!this.playing || this.closed) return;
      this.seek(Math.min(this.length, this.at + (now - last) * this.speed));
      last = now;
      if (this.at >= this.length) this.playing = false;
      this.drawControls();
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (e.key === 'Escape') this.close();
    else if (e.key === ' ' && !(e.target instanceof HTMLButtonElement)) this.toggle();
    else return;
    e.preventDefault();
  }

  /**
   * seek shows the screen as it was at a moment.
   * @param {number} at
   * @param {number} [end] How many items are drawn; otherwise those that have come by then.
   */
  seek(at, end) {
    this.at = at;
    let n = end ?? this.times.findIndex((t) => t > at);
    if (n < 0) n = this.items.length;
    this.drawTo(n);
    this.drawControls();
  }

  /** @param {number} n How many items are drawn. */
  drawTo(n) {
    if (n < this.next) { // back: from the beginning
      this.screen.reset(this.items[0]?.cols ?? 80, this.items[0]?.rows ?? 24, '');
      this.next = 0;
    }
    let text = '';
    for (; this.next < n; this.next++) {
      const item = this.items[this.next];
      if (item.kind === 'data') text += item.data;
      if (item.kind === 'gap') text += '\x18';
      if (item.kind !== 'resized') continue;
      this.screen.write(text);
      this.screen.resize(item.cols ?? 80, item.rows ?? 24);
      text = '';
    }
    this.screen.write(text);
  }

  drawControls() {
    this.slider.value = String(Math.round(this.at));
    this.slider.setAttribute('aria-valuetext', duration(this.at));
    this.time.textContent = `${clock(this.at)} / ${clock(this.length)}`;
    this.play.textContent = this.playing ? '\u2759\u2759' : '\u25b6';
    this.play.setAttribute('aria-label', this.playing ? 'Pause' : 'Play');
  }
}

/** @param {number} ms */
function clock(ms) {
  const s = Math.floor(ms / 1000);
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
}

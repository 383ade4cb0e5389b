// What a terminal has shown, played again: a timeline with its commands as marks. The page has the
// outline of the whole history, and of the output only what comes next. When the person goes
// elsewhere, the host tells what the screen was there. So it does where the size has changed, for
// terminals differ on what becomes of the lines then.

import { notice } from './dialogs.js';
import { button, fill, h } from './dom.js';
import { bytes, duration, oneLine, outcome } from './format.js';
import { before, behind, isBefore, readItems, readOutline, readPicture, readRecordings, readScreen } from './history.js';
import { Pictures } from './pictures.js';
import { Screen } from './screen.js';

/**
 * @typedef {import('./history.js').Item} Item
 * @typedef {import('./history.js').Place} Place
 * @typedef {import('./history.js').Source} Source
 */

/** The longest time without output that is played as it was, in ms; longer ones are cut to it. */
const longestGap = 2000;
const speeds = [1, 2, 4, 16];
/** How many lines there are to scroll back to. */
const scrollback = 1000;
/** How many items are left to draw when more are read. */
const few = 200;

export class Replay {
  /** @type {Item[]} The outline. */
  items = [];
  /** @type {number[]} When each item comes, in ms of the replay. */
  times = [];
  at = 0; // where the replay is, in ms
  /** @type {Place} Behind what is drawn. */
  place = { at: 0, items: 0 };
  /** @type {Item[]} What comes behind that, as far as it has been read. */
  queue = [];
  /** @type {Place | null} Where the rest of it begins; null: there is none. */
  rest = null;
  reading = false; // the rest is being read
  epoch = 0; // of the jumps: what was asked for before the last one is not drawn
  /** @type {Place | null} Where the person wants to go, as soon as the host has answered. */
  goal = null;
  jumping = false; // the host has been asked for a screen
  speed = 1;
  cut = true;
  playing = false;
  frame = 0; // in which it plays on
  closed = false;

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {{uri: string, name: string, debug: boolean, missing: boolean, done(): void}} o
   */
  constructor(connection, o) {
    this.connection = connection;
    this.o = o;
    /** @type {Source} */
    this.source = { channel: o.uri };
    this.screen = new Screen({ name: `replay of ${o.name}`, debug: o.debug });
    new Pictures(this.screen, (id) => readPicture(connection, o.uri, id));
    this.slider = h('input', { type: 'range', min: '0', max: '0', step: '1', value: '0', 'aria-label': 'Timeline',
      oninput: () => this.seek(Number(this.slider.value)) });
    this.marks = h('div', { class: 'marks' });
    this.time = h('span', { class: 'time' });
    this.play = button('Play', '\u25b6', () => this.toggle(), 'icon');
    this.faster = button('Speed 1\u00d7', '1\u00d7', () => this.nextSpeed(), 'quiet');
    this.gaps = h('label', {}, h('input', { type: 'checkbox', checked: true,
      onchange: (/** @type {Event} */ e) => this.setCut(/** @type {HTMLInputElement} */ (e.target).checked) }),
    ' cut gaps');
    this.sources = h('select', { 'aria-label': 'Recording', hidden: true, onchange: () => this.choose() });
    this.element = h('section', { class: 'replay', 'aria-label': `Replay of ${o.name}`,
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e) },
    this.screen.element,
    h('footer', {}, this.play, h('div', { class: 'line' }, this.marks, this.slider), this.time, this.faster,
      this.gaps, this.sources, button('Live', 'Live', () => this.close())));
  }

  async open() {
    this.screen.open();
    const recordings = await readRecordings(this.connection, this.o.uri);
    if (this.closed) return;
    fill(this.sources, !this.o.missing && h('option', { value: '' }, 'the terminal\u2019s log'),
      ...recordings.reverse().map((r) => h('option', { value: r.recording },
        `recording of ${new Date(r.startedAt).toLocaleString()}, ${bytes(r.bytes)}${r.endedAt ? '' : ', goes on'}`)));
    this.sources.hidden = recordings.length === 0;
    this.slider.focus();
    if (this.sources.options.length) await this.load();
    else throw new Error(`Nothing is kept of ${this.o.name}.`);
  }

  /** choose plays something else. */
  choose() { this.load().catch((e) => notice(e.message)); }

  /** load shows the end of what is chosen. */
  async load() {
    const recording = this.sources.value, epoch = ++this.epoch;
    this.source = recording ? { recording } : { channel: this.o.uri };
    this.playing = false;
    const items = await readOutline(this.connection, this.source);
    if (this.closed || epoch !== this.epoch) return;
    this.items = items;
    this.schedule();
    this.seek(this.length);
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
    let end = i + 1;
    while (end < this.items.length && !/^(finished|command)$/.test(this.items[end].kind)) end++;
    const o = this.items[end]?.kind === 'finished' ? outcome(this.items[end].exitCode) :
      { kind: 'running', words: 'running' };
    const el = button(`${oneLine(item.line ?? '', 100)}, ${o.words}`, '', () => {
      this.at = this.times[i];
      this.jump(behind(item));
    }, o.kind);
    el.style.left = `${this.length ? this.times[i] / this.length * 100 : 0}%`;
    return el;
  }

  /**
   * timeOf returns when an item comes, which need not be in the outline.
   * @param {Item} item
   */
  timeOf(item) {
    const i = this.countBefore(behind(item)) - 1;
    if (i < 0) return 0;
    const since = Date.parse(item.time) - Date.parse(this.items[i].time);
    return Math.min(this.times[i] + Math.max(0, since), this.times[i + 1] ?? Infinity);
  }

  /**
   * countBefore returns how many items of the outline come before a place.
   * @param {Place} place
   */
  countBefore(place) {
    let low = 0, high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.items[middle], place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** @param {boolean} cut */
  setCut(cut) {
    this.cut = cut;
    this.schedule();
    this.at = this.times[this.countBefore(this.goal ?? this.place) - 1] ?? 0;
    this.drawControls();
  }

  nextSpeed() {
    this.speed = speeds[(speeds.indexOf(this.speed) + 1) % speeds.length];
    this.faster.textContent = `${this.speed}\u00d7`;
    this.faster.setAttribute('aria-label', `Speed ${this.speed}\u00d7`);
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.at >= this.length) this.seek(0);
    this.drawControls();
    cancelAnimationFrame(this.frame);
    let last = performance.now();
    const step = (/** @type {number} */ now) => {
      if (!this.playing || this.closed) return;
      this.advance((now - last) * this.speed);
      last = now;
      this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (e.key === 'Escape') this.close();
    else if (e.key === ' ' && !/** @type {Element} */ (e.target).matches('button, select, [type=checkbox]')) this.toggle();
    else return;
    e.preventDefault();
  }

  /**
   * seek shows the screen as it was at a moment.
   * @param {number} at
   */
  seek(at) {
    this.at = at;
    const last = this.items.at(-1), i = this.times.findIndex((t) => t > at);
    if (last) this.jump(i < 0 ? behind(last) : before(this.items[i]));
  }

  /**
   * jump shows the screen as it was at a place. The newest jump counts.
   * @param {Place} goal
   */
  jump(goal) {
    this.goal = goal;
    this.epoch++;
    this.drawControls();
    if (!this.jumping) void this.jumps();
  }

  async jumps() {
    this.jumping = true;
    try {
      while (this.goal && !this.closed) {
        const goal = this.goal, source = this.source;
        const s = await readScreen(this.connection, source, goal, scrollback);
        if (this.closed || goal !== this.goal || source !== this.source) continue;
        this.screen.reset(s.cols, s.rows, s.data);
        [this.place, this.rest, this.queue, this.goal] = [goal, goal, [], null];
        await this.more();
      }
    } catch (e) {
      this.goal = null;
      this.playing = false;
      if (!this.closed) notice(/** @type {Error} */ (e).message);
    }
    this.jumping = false;
  }

  /** more reads what comes next. */
  async more() {
    const from = this.rest, epoch = this.epoch;
    if (!from || this.reading) return;
    this.reading = true;
    try {
      const { items, next } = await readItems(this.connection, this.source, from);
      if (epoch !== this.epoch) return;
      for (const item of items) this.queue.push(item);
      this.rest = next;
    } finally {
      this.reading = false;
    }
  }

  /**
   * advance plays on for a time, as far as it is known what comes.
   * @param {number} ms
   */
  advance(ms) {
    if (this.jumping) return;
    if (this.queue.length < few && this.rest) {
      this.more().catch((e) => { this.playing = false; notice(e.message); });
    }
    if (!this.queue.length && this.rest) return;
    this.at = Math.min(this.length, this.at + ms);
    let text = '', n = 0;
    for (; n < this.queue.length && this.timeOf(this.queue[n]) <= this.at; n++) {
      const item = this.queue[n];
      if (item.kind === 'data') text += item.data;
      if (item.kind === 'gap') {
        text += `\x18\x1b[m\r\n[termhost: ${item.missing ? `${item.missing} bytes are` : 'output is'} missing here: ${item.reason}]\r\n`;
      }
      this.place = behind(item);
      if (item.kind === 'resized') {
        this.at = this.timeOf(item);
        this.jump(this.place);
        break;
      }
    }
    this.screen.write(text);
    this.queue.splice(0, n);
    if (this.at >= this.length && !this.goal && (this.queue.length || !this.rest)) this.playing = false;
    this.drawControls();
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

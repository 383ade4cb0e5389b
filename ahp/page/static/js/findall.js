// Find in all terminals: the host searches what they have printed, as grep does. What it finds stands
// over the terminal that was asked from; a click on a line goes to its terminal, and searches there.

import { button, fill, h } from './dom.js';
import { oneLine } from './format.js';
import { literal } from './history.js';
import { nameOf, ownName } from './reducers.js';

/** How much of a line is shown, in UTF-16 units. */
const longest = 300;

/**
 * @typedef {{channel: string, count: number, more: boolean, lines: {time: string, text: string}[]}} Searched
 * @typedef {{host: string, reason: string}} Unsearched A host of the fleet that has not searched.
 */

export class FindAll {
  asked = 0; // of the searches: only the last one is shown

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {() => void} closed
   */
  constructor(connection, closed) {
    this.connection = connection;
    this.closed = closed;
    this.what = h('span', { class: 'what', role: 'status' });
    this.body = h('div', { class: 'text everywhere', tabIndex: 0 });
    this.element = h('section', { class: 'output', hidden: true, 'aria-label': 'Found in all terminals',
      onkeydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Escape') this.close(); },
    }, h('header', {}, this.what, button('Close what was found', '\u00d7', () => this.close(), 'icon')), this.body);
  }

  get shown() { return !this.element.hidden; }

  /** @param {string} text */
  async show(text) {
    const asked = ++this.asked;
    this.element.hidden = false;
    this.what.textContent = `Searching all terminals for \u201c${oneLine(text, 60)}\u201d\u2026`;
    fill(this.body);
    this.body.focus();
    try {
      const { terminals, more, unsearched = [] } = await this.connection.request('termhost/search',
        { pattern: literal(text), ignoreCase: text === text.toLowerCase() });
      if (asked === this.asked) this.draw(text, terminals, more, unsearched);
    } catch (e) {
      if (asked === this.asked) this.what.textContent = /** @type {Error} */ (e).message;
    }
  }

  /**
   * @param {string} text
   * @param {Searched[]} terminals
   * @param {boolean} more
   * @param {Unsearched[]} unsearched
   */
  draw(text, terminals, more, unsearched) {
    const n = terminals.length, all = terminals.reduce((sum, t) => sum + t.count, 0);
    const some = more || terminals.some((t) => t.more) ? 'more than ' : '';
    const found = !n ? `\u201c${oneLine(text, 60)}\u201d is in no terminal` :
      `${some}${all.toLocaleString()} ${all === 1 ? 'line' : 'lines'} with \u201c${oneLine(text, 60)}\u201d in ${n} ${n === 1 ? 'terminal' : 'terminals'}`;
    this.what.textContent = [found, ...unsearched.map((u) => `${u.host} was not searched`)].join('; ');
    fill(this.body, ...unsearched.map((u) => h('p', { class: 'empty' }, `${u.host} was not searched: ${oneLine(u.reason)}.`)),
      ...terminals.map((t) => this.section(text, t)));
    if (n) this.body.querySelector('button')?.focus();
  }

  /**
   * @param {string} text
   * @param {Searched} t
   */
  section(text, t) {
    const { connection } = this, info = connection.terminals.find((i) => i.resource === t.channel);
    const name = nameOf(t.channel), called = connection.called(name);
    const left = t.count - t.lines.length;
    return h('section', { 'aria-label': called },
      h('h2', {}, called, info?.title && info.title !== ownName(called) ? ` \u00b7 ${oneLine(info.title, 80)}` : '',
        h('span', { class: 'count' }, ` ${t.more ? 'more than ' : ''}${t.count.toLocaleString()}`)),
      left > 0 && h('p', { class: 'empty' }, `${left.toLocaleString()} before these`),
      ...t.lines.map((l) => h('button', { type: 'button', class: 'line',
        onclick: () => this.go(name, text) },
      h('time', { dateTime: l.time }, new Date(l.time).toLocaleTimeString()), h('code', {}, oneLine(l.text, longest)))));
  }

  /**
   * go shows a terminal and searches in it.
   * @param {string} name
   * @param {string} text
   */
  go(name, text) {
    const to = this.element.parentElement;
    this.close();
    to?.dispatchEvent(new CustomEvent('goto', { bubbles: true, detail: { name, text } }));
  }

  close() {
    if (!this.shown) return;
    this.asked++;
    this.element.hidden = true;
    this.connection.request('termhost/search', { pattern: '' }).catch(() => {}); // which ends one that goes on
    this.closed();
  }
}

// On a small screen, what a terminal that needs the person asks, as a card: its last lines, and what can
// be answered at once. Yes and No are there where a question names them, and type what it names. What
// an agent wants to type is shown whole, and decided as it is beside the terminal.

import { Asks } from './asks.js';
import { button, fill, h } from './dom.js';
import { oneLine } from './format.js';
import { readHeld, readLines } from './history.js';
import { calledOf, nameOf } from './reducers.js';

/** How many lines a card has. */
const most = 4;

/**
 * answer types a text, if the question is still asked; "": the person types it. decide decides about
 * an ask, and says whether it is decided.
 * @typedef {{answer(name: string, question: string, text: string): void,
 *   decide(name: string, ask: string, decision: import('./asks.js').Decision, reason: string): Promise<boolean>}} Reply
 */

export class Answer {
  key = '';
  channel = '';
  element = h('div', { class: 'answer' });
  tail = h('pre', { tabIndex: 0, role: 'document' });
  /** @type {Asks | null} null: it is not about what an agent wants to type. */
  asks = null;

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {Reply} reply
   */
  constructor(connection, reply) {
    this.connection = connection;
    this.reply = reply;
  }

  /** @param {import('./reducers.js').TerminalInfo} t */
  draw(t) {
    const { waiting = '', waitingSince = '', question = '' } = t._meta?.termhost ?? {}, name = nameOf(t.resource);
    const key = JSON.stringify([waiting, waitingSince, question, t.wants]);
    if (key === this.key) return this.element;
    this.key = key;
    this.channel = t.resource;
    const called = calledOf(t);
    this.tail.setAttribute('aria-label', `Last lines of ${called}`);
    /**
     * @param {string} label
     * @param {string} text
     * @param {string} [className]
     */
    const b = (label, text, className) =>
      button(`${label}, ${called}`, label, () => this.reply.answer(name, question, text), className);
    const words = waiting === 'input' ? yesAndNo(question) : null, approval = waiting === 'approval';
    if (!approval) this.dispose();
    else this.asks ??= new Asks((ask, decision, reason) => this.reply.decide(name, ask, decision, reason));
    fill(this.element, this.tail, this.asks?.element, h('div', { class: 'choice' },
      words && b('Yes', words[0], 'primary'), words && b('No', words[1]),
      b(approval ? 'Show the terminal' : 'Type', '', words || approval ? '' : 'primary')));
    void this.read(key, oneLine(question || t.says || '', 300));
    void this.look();
    return this.element;
  }

  /**
   * read shows the last lines, without what the entry above says already.
   * @param {string} key
   * @param {string} said
   */
  async read(key, said) {
    const { channel } = this;
    try {
      const { total } = await readLines(this.connection, { channel }, null, 0, 0);
      const { lines } = await readLines(this.connection, { channel }, null, Math.max(0, total - most), most);
      if (key !== this.key) return;
      const shown = lines.map((l) => oneLine(l.replace(/\x1b(?:\[[0-9;:]*m|\]8;[^\x1b]*\x1b\\)/g, ''), 300));
      while (shown.length && !shown[shown.length - 1].trim()) shown.pop();
      if (said && shown.at(-1)?.trim() === said.trim()) shown.pop();
      this.tail.textContent = shown.join('\n');
      this.tail.scrollTop = this.tail.scrollHeight;
    } catch { /* the card has the question still */ }
  }

  /** look shows what is held now, while the card is seen. The list does not tell when the first of several is decided. */
  async look() {
    const { asks, channel } = this;
    if (!asks || !this.element.offsetParent) return;
    const held = await readHeld(this.connection, channel).catch(() => null);
    if (asks === this.asks) asks.draw(held?.asks ?? [], !!held);
  }

  dispose() {
    this.asks?.dispose();
    this.asks = null;
  }
}

/**
 * yesAndNo returns what a question names for yes and for no, as in "Overwrite? [y/N]"; null: it names
 * none.
 * @param {string} question
 * @returns {[string, string] | null}
 */
export function yesAndNo(question) {
  const m = /\b(y|yes)\s*\/\s*(n|no)\b/i.exec(question);
  return m && [m[1].toLowerCase(), m[2].toLowerCase()];
}

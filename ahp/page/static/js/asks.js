// What agents want to type into a guarded terminal, for a person to decide about.

import { button, fill, h } from './dom.js';
import { oneLine } from './format.js';

/** @typedef {{ask: string, by: string, text: string, since: string, secret?: boolean}} Ask */

export class Asks {
  drawn = '';

  /** @param {(ask: string, decision: 'yes' | 'no') => void} decide */
  constructor(decide) {
    this.decide = decide;
    this.element = h('section', { class: 'asks', 'aria-label': 'Approvals', hidden: true });
  }

  /** @param {Ask[]} asks The first one is decided first. */
  draw(asks) {
    const first = asks[0], key = JSON.stringify([first?.ask, asks.length]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.element.hidden = !first;
    if (!first) return;
    const text = first.secret ? 'something that is kept secret' : first.text.replace(/[\r\n]+$/, '');
    const lines = text.split(/\r\n|\r|\n/).map((l) => oneLine(l, 300));
    fill(this.element,
      h('p', {}, h('strong', {}, oneLine(first.by, 60)), ' wants to type',
        asks.length > 1 && h('span', { class: 'more' }, ` (${asks.length - 1} more behind it)`)),
      h('pre', {}, lines.join('\n')),
      h('div', { class: 'choice' },
        button('Approve', 'Approve', () => this.decide(first.ask, 'yes'), 'primary'),
        button('Refuse', 'Refuse', () => this.decide(first.ask, 'no'))));
  }
}

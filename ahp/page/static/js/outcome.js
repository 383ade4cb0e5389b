// What has become of an ask to which the link of a notification has led, if it is decided already.

import { button, fill, h } from './dom.js';
import { age } from './format.js';
import { readHeld } from './history.js';

export class AskOutcome {
  element = h('section', { class: 'outcome', role: 'status', 'aria-label': 'Decided', hidden: true });

  /** @param {import('./connection.js').Connection} connection */
  constructor(connection) { this.connection = connection; }

  /**
   * look tells how an ask was decided; nothing is to be told of one that is still held.
   * @param {string} channel
   * @param {string} ask
   */
  async look(channel, ask) {
    const held = await readHeld(this.connection, channel, ask).catch(() => null);
    if (!held || held.asks.some((a) => a.ask === ask)) return;
    const { how = '', at = '' } = held.outcome ?? {};
    const ago = age(Math.max(0, this.connection.now() - Date.parse(at)));
    fill(this.element, h('span', {}, how ? `${ask} was ${how}, ${ago} ago.` : `${ask} is not asked any more.`),
      button('OK', 'OK', () => { this.element.hidden = true; }));
    this.element.hidden = false;
  }
}

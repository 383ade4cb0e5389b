// What was typed and has not arrived: it waits for the connection, or for the person to decide.

import { button, fill, h } from './dom.js';
import { drawLines, linesOf } from './signs.js';

/** How much of it is shown, in UTF-16 units: its end. */
const shown = 2000;

export class Unsent {
  drawn = '';

  /** @param {import('./terminal.js').TerminalView} view */
  constructor(view) {
    this.view = view;
    this.element = h('section', { class: 'unsent', 'aria-label': 'Not sent', hidden: true });
  }

  draw() {
    const { input } = this.view.keyboard, { holds } = this.view, text = input.waits ? input.unsent : '';
    const secret = this.view.meta.waiting === 'secret';
    const key = JSON.stringify([text, holds, secret, input.stopped]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.element.hidden = !text;
    if (!text) return;
    const cut = Math.max(0, text.length - shown), send = input.stopped && holds;
    const had = document.activeElement?.closest('.unsent') === this.element ? document.activeElement?.textContent : '';
    fill(this.element,
      h('p', { role: 'status' }, h('strong', {}, input.stopped ? 'Not sent' : 'Waiting'), ' ', this.words()),
      secret ? h('p', {}, characters(text.length)) : h('div', { class: 'said' },
        cut > 0 && h('p', { class: 'hint' }, `${characters(cut)}, and then:`), drawLines(linesOf(text.slice(cut)))),
      h('div', { class: 'choice' }, send && button('Send it', 'Send it', () => this.choose(() => input.go()), 'primary'),
        button('Discard it', 'Discard it', () => this.choose(() => input.discard(holds)))));
    for (const b of this.element.querySelectorAll('button')) if (had && b.textContent === had) b.focus();
  }

  words() {
    const { stopped, maybe } = this.view.keyboard.input;
    if (!stopped) return 'for the connection: it is sent when that is back.';
    return `${stopped.replace(/[.]$/, '')}. ${maybe ? `The first ${characters(maybe)} may have arrived. ` : ''}What you type now is added, ` +
      (this.view.holds ? 'until you send or discard it.' : 'until you take the keyboard and send it, or discard it.');
  }

  /** @param {() => void} choice */
  choose(choice) {
    this.view.focus();
    choice();
  }
}

/** @param {number} n */
function characters(n) { return n === 1 ? '1 character' : `${n} characters`; }

// What is said when the page is not connected: a strip above the terminals, which stay as they are,
// or a whole page when it cannot get in at all.

import { button, fill, h } from './dom.js';
import { aboutName, pageLine, sshName, typed } from './sshline.js';

/**
 * refusal replaces the page by what is wrong and what to do.
 * @param {import('./session.js').Refused} e
 */
export function refusal({ title, message, advice, line = pageLine() }) {
  document.documentElement.dataset.termhost = 'refused';
  document.title = `termhost: ${title}`;
  fill(document.body, h('main', { class: 'refusal' }, h('div', { role: 'alert' },
    h('h1', {}, title), h('p', {}, message), advice && h('p', {}, ...codes(advice)),
    line && h('p', {}, 'To open the page, type this where you have ssh, and open what it prints:'),
    line && typed(line),
    line && h('p', { class: 'advice' }, aboutName(), ' There, ', h('code', {}, `termhost page ${sshName()}`),
      ' does all of it, with a forwarded port and the browser.'))));
}

/**
 * codes sets names of settings in a text as such.
 * @param {string} text
 */
function codes(text) {
  return text.split(/(http\.\w+)/).map((part, i) => i % 2 ? h('code', {}, part) : part);
}

export class Strip {
  /** @param {import('./connection.js').Connection} connection */
  constructor(connection) {
    this.connection = connection;
    this.element = h('div', { class: 'strip', role: 'status', hidden: true });
    this.said = '';
    connection.addEventListener('status', () => this.draw());
  }

  draw() {
    const { status, reason } = this.connection;
    const stalled = status === 'ready' && this.connection.stalled;
    this.element.hidden = status === 'ready' && !stalled;
    if (stalled) {
      this.say('The host has not answered for some seconds: the network is slow, or gone. What you ' +
        'type is sent when it is back.');
    } else if (status === 'lost') {
      const message = reason?.message ?? '', { known } = this.connection;
      const why = /Failed to fetch|NetworkError|timed out|connection was lost/.test(message) ?
        'The host does not answer' : message;
      this.say(`${why}. ${known ? 'What you see is as it was; t' : 'T'}rying again\u2026`,
        button('Try now', 'Try now', () => this.connection.wake()));
    } else if (status === 'replaced') {
      this.say('This view has been opened elsewhere.',
        button('Use it here', 'Use it here', () => location.reload()));
    }
  }

  /**
   * say shows a text, with what can be done. One that stands there already stays, so that each try does
   * not take a button from under the pointer, and is not read out again.
   * @param {string} text
   * @param {...HTMLElement} actions
   */
  say(text, ...actions) {
    if (text === this.said) return;
    this.said = text;
    fill(this.element, text, ...actions);
  }
}

// A terminal's text as a plain document, for screen readers and for whoever wants to read in peace:
// it stays as it is until it is asked for again.

import { button, h } from './dom.js';
import { linesOf } from './rich.js';

export class PlainText {
  /**
   * @param {import('./terminal.js').TerminalView} view
   * @param {() => void} closed
   */
  constructor(view, closed) {
    this.view = view;
    this.text = h('pre', { class: 'text', tabIndex: 0, role: 'document', 'aria-label': `Text of ${view.name}` });
    this.element = h('section', {
      class: 'output plain', 'aria-label': 'Plain text',
      onkeydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Escape') this.close(); },
    }, h('header', {}, h('span', { class: 'what' }, 'Plain text'),
      button('Refresh the text', 'Refresh', () => this.read(), 'quiet'),
      button('Close the text', '\u00d7', () => this.close(), 'icon')), this.text);
    this.closed = closed;
  }

  /** read takes the text as it is now, and goes to its end. */
  read() {
    this.text.textContent = linesOf(this.view.screen.term).plain;
    this.text.scrollTop = this.text.scrollHeight;
    this.text.focus();
  }

  close() {
    this.element.remove();
    this.closed();
  }
}

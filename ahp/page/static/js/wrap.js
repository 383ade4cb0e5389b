// Long lines are wrapped, or the person scrolls to their ends.

import { button } from './dom.js';

/**
 * wrapButton returns the button that changes that for a text.
 * @param {HTMLElement} text
 * @param {boolean} wrapped How it begins.
 * @param {() => void} [changed]
 */
export function wrapButton(text, wrapped, changed) {
  const set = (/** @type {boolean} */ on) => {
    text.classList.toggle('wrapped', on);
    b.setAttribute('aria-pressed', String(on));
  };
  const b = button('Wrap long lines', 'Wrap', () => {
    set(!text.classList.contains('wrapped'));
    changed?.();
  }, 'quiet');
  set(wrapped);
  return b;
}

// A button with a menu below it.

import { h } from './dom.js';
import { Rove } from './rove.js';

/** What is left free between a menu and the window's edge, in pixels. */
const edge = 8;

/** @typedef {{label: string, detail?: string, narrow?: boolean, className?: string, run: () => void}} Item
 *   narrow: where there is no room for it elsewhere */

/**
 * menu makes one. The arrow keys move in it, and Escape closes it.
 * @param {Item[]} items
 * @param {() => void} chosen Called before an item is run.
 * @param {string} [label] What the button is called.
 * @param {string} [text] What is on it.
 */
export function menu(items, chosen, label = 'More', text = '\u22ef') {
  const list = h('div', { role: 'menu' }, ...items.map((item) =>
    h('button', { type: 'button', role: 'menuitem', tabIndex: -1, class: item.narrow ? 'narrow' : item.className, onclick: () => {
      el.open = false;
      chosen();
      item.run();
    } }, item.label, item.detail && h('small', {}, ' ' + item.detail))));
  const rove = new Rove(list, 'button');
  const summary = h('summary', { 'aria-label': label, 'aria-haspopup': 'menu', title: label }, text);
  const el = h('details', { class: 'menu' }, summary, list);
  el.addEventListener('toggle', () => {
    list.style.maxHeight = '';
    if (!el.open) return;
    const { top, bottom } = summary.getBoundingClientRect(), below = innerHeight - bottom - edge;
    const up = list.offsetHeight > below && top - edge > below;
    list.classList.toggle('up', up);
    list.style.maxHeight = `${up ? top - edge : below}px`;
    rove.settle(rove.all()[0]);
    rove.focus();
  });
  el.addEventListener('keydown', (e) => {
    if (e.key === 'ArrowDown' && !el.open) el.open = true;
    else if (e.key === 'Escape' && el.open) {
      el.open = false;
      summary.focus();
    } else return;
    e.preventDefault();
  });
  el.addEventListener('focusout', (e) => {
    if (!el.contains(/** @type {Node | null} */ (e.relatedTarget))) el.open = false;
  });
  return el;
}

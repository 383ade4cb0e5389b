// Terminals that are dragged, by their title, their tab or their entry in the list: beside the one
// that they are dropped on, or into a tab of their own.

import { isName } from './reducers.js';

/** @typedef {'left' | 'right' | 'top' | 'bottom'} Side */

const kind = 'application/x-termhost-names';

/**
 * dragsFrom lets an element be dragged as terminals.
 * @param {HTMLElement} el
 * @param {() => string[]} names
 */
export function dragsFrom(el, names) {
  el.draggable = true;
  el.addEventListener('dragstart', (e) => {
    if (!e.dataTransfer) return;
    e.dataTransfer.setData(kind, names().join());
    e.dataTransfer.effectAllowed = 'move';
  });
}

/**
 * dropsOn lets terminals be dropped on an element.
 * @param {HTMLElement} el
 * @param {(names: string[], side: Side) => void} drop
 */
export function dropsOn(el, drop) {
  accept(el, (e) => { el.dataset.drop = sideOf(el, e); }, () => { delete el.dataset.drop; },
    (names, e) => drop(names, sideOf(el, e)));
}

/**
 * dropsBetween lets terminals be dropped between the elements of a row, or behind them.
 * @param {HTMLElement} row
 * @param {(names: string[], at: number) => void} drop at is how many stand before.
 */
export function dropsBetween(row, drop) {
  /** @param {DragEvent} e */
  const at = (e) => [...row.children].filter((el) => {
    const box = el.getBoundingClientRect();
    return box.left + box.width / 2 < e.clientX;
  }).length;
  const clear = () => { for (const el of row.querySelectorAll('[data-drop]')) el.removeAttribute('data-drop'); };
  accept(row, (e) => {
    clear();
    const n = at(e), next = row.children[n];
    (next ?? row.lastElementChild)?.setAttribute('data-drop', next ? 'left' : 'right');
  }, clear, (names, e) => drop(names, at(e)));
}

/**
 * accept calls over while terminals are above an element, out when they are not any more, and drop
 * when they are dropped.
 * @param {HTMLElement} el
 * @param {(e: DragEvent) => void} over
 * @param {() => void} out
 * @param {(names: string[], e: DragEvent) => void} drop
 */
function accept(el, over, out, drop) {
  el.addEventListener('dragover', (e) => {
    if (!e.dataTransfer?.types.includes(kind)) return;
    e.preventDefault();
    e.dataTransfer.dropEffect = 'move';
    over(e);
  });
  el.addEventListener('dragleave', (e) => {
    if (!(e.relatedTarget instanceof Node) || !el.contains(e.relatedTarget)) out();
  });
  el.addEventListener('drop', (e) => {
    const names = (e.dataTransfer?.getData(kind) ?? '').split(',').filter(isName);
    out();
    if (!names.length) return;
    e.preventDefault();
    drop(names, e);
  });
}

/**
 * sideOf returns the border that is nearest to the pointer.
 * @param {HTMLElement} el
 * @param {DragEvent} e
 * @returns {Side}
 */
function sideOf(el, e) {
  const box = el.getBoundingClientRect();
  const x = (e.clientX - box.left) / box.width, y = (e.clientY - box.top) / box.height;
  const near = Math.min(x, 1 - x, y, 1 - y);
  return near === x ? 'left' : near === 1 - x ? 'right' : near === y ? 'top' : 'bottom';
}

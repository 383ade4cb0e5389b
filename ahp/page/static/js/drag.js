// Tabs that are dragged into panes: the terminal is then shown beside the one it was dropped on.

/** @typedef {'left' | 'right' | 'top' | 'bottom'} Side */

const kind = 'application/x-termhost-name';

/**
 * dragsFrom lets an element be dragged as a terminal.
 * @param {HTMLElement} el
 * @param {string} name
 */
export function dragsFrom(el, name) {
  el.draggable = true;
  el.addEventListener('dragstart', (e) => e.dataTransfer?.setData(kind, name));
}

/**
 * dropsOn lets terminals be dropped on an element.
 * @param {HTMLElement} el
 * @param {(name: string, side: Side) => void} drop
 */
export function dropsOn(el, drop) {
  el.addEventListener('dragover', (e) => {
    if (!e.dataTransfer?.types.includes(kind)) return;
    e.preventDefault();
    el.dataset.drop = sideOf(el, e);
  });
  el.addEventListener('dragleave', () => delete el.dataset.drop);
  el.addEventListener('drop', (e) => {
    const name = e.dataTransfer?.getData(kind);
    delete el.dataset.drop;
    if (!name) return;
    e.preventDefault();
    drop(name, sideOf(el, e));
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

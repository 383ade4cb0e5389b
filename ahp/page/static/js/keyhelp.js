// The keys that the page keeps from programs, for people to look up.

import { modal } from './dialogs.js';
import { button, h } from './dom.js';
import { prefixKeys } from './prefix.js';

const others = [
  ['Ctrl-Shift-C', 'copy what is selected'],
  ['Ctrl-Shift-V', 'paste'],
  ['Ctrl-Shift-F', 'find'],
  ['Ctrl-click', 'open a link'],
  ['Alt-click in the list', 'show a terminal beside what is shown; Alt-Enter, too'],
  ['Alt-Shift-click there', 'show it below'],
  ['Escape', 'back to the terminal, from everything else'],
];

export function keyHelp() {
  const dialog = h('dialog', { class: 'keys', 'aria-label': 'Keys' },
    h('header', {}, h('h2', {}, 'Keys'), button('Close', '\u00d7', () => dialog.close(), 'icon')),
    h('div', { class: 'sections' },
      h('p', {}, 'All other keys go to the program.'),
      table('Behind Ctrl-\\', prefixKeys), table('By themselves', others)),
    h('footer', {}, button('Done', 'Done', () => dialog.close(), 'primary')));
  modal(dialog);
}

/**
 * @param {string} title
 * @param {string[][]} rows A key and what it does.
 */
function table(title, rows) {
  return h('section', { 'aria-label': title }, h('h3', {}, title), h('dl', {}, ...rows.flatMap(([key, does]) =>
    [h('dt', {}, h('kbd', {}, key)), h('dd', {}, does)])));
}

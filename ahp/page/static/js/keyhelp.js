// The keys that the page keeps from programs, for people to look up.

import { modal } from './dialogs.js';
import { button, fill, h } from './dom.js';
import { prefixKeys } from './prefix.js';

const others = [
  ['any key', 'take a keyboard that nobody else would lose'],
  ['Ctrl-Shift-C', 'copy what is selected'],
  ['Ctrl-Shift-V', 'paste'],
  ['Ctrl-Shift-F', 'find'],
  ['Ctrl-click', 'open a link'],
  ['Alt-click in the list', 'show a terminal beside what is shown; Alt-Enter, too'],
  ['Alt-Shift-click there', 'show it below'],
  ['Escape', 'back to the terminal, from everything else'],
  ['drag a title or a tab', 'beside another terminal, or into a tab of its own'],
];

export function keyHelp() {
  const dialog = h('dialog', { class: 'keys', 'aria-label': 'Keys' },
    h('header', {}, h('h2', {}, 'Keys'), button('Close', '\u00d7', () => dialog.close(), 'icon')),
    h('div', { class: 'sections', tabIndex: 0, role: 'group', 'aria-label': 'All keys' },
      h('p', {}, 'All other keys go to the program.'),
      keyTable('Behind Ctrl-\\', prefixKeys), keyTable('By themselves', others)),
    h('footer', {}, button('Done', 'Done', () => dialog.close(), 'primary')));
  modal(dialog);
}

const hintBox = h('div', { class: 'prefix-keys', role: 'status' });

/**
 * prefixHint shows the keys behind the prefix, which has been typed, or hides them.
 * @param {boolean} on
 */
export function prefixHint(on) {
  fill(hintBox, on && keyTable('Ctrl-\\ then', prefixKeys));
  if (!hintBox.isConnected) document.body.append(hintBox);
}

/**
 * keyTable shows what keys do.
 * @param {string} title
 * @param {string[][]} rows A key and what it does.
 */
export function keyTable(title, rows) {
  return h('table', {}, h('caption', {}, title), h('tbody', {}, ...rows.map(([key, does]) =>
    h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, key)), h('td', {}, does)))));
}

// xterm.js and its addons. They are half of the page, and the rest does not wait for them.

import { refusal } from './status.js';

/**
 * @typedef {typeof import('../vendor/xterm.mjs') & typeof import('../vendor/addon-search.mjs') &
 *   typeof import('../vendor/addon-web-links.mjs')} Library
 */

/** @type {Library | null} */
let all = null;

/** Fulfilled when what there is of the page is on the screen, if anybody looks. */
const painted = new Promise((resolve) => {
  if (document.hidden) resolve(null);
  else requestAnimationFrame(() => setTimeout(resolve));
});

/** @type {Promise<void>} Fulfilled once there can be terminals; if they cannot be loaded, never. */
export const loaded = painted.then(() => Promise.all([
  import('../vendor/xterm.mjs'), import('../vendor/addon-search.mjs'), import('../vendor/addon-web-links.mjs'),
])).then((parts) => { all = Object.assign({}, ...parts); }, () => {
  refusal('The page is not whole', 'A part of it cannot be loaded.', 'Reload it with Ctrl-Shift-R.');
  return new Promise(() => {});
});

/** library returns what they export. It must be loaded. */
export function library() { return /** @type {Library} */ (all); }

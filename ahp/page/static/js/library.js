// xterm.js, its addons and the page's own modules for terminals. They are most of the page, and the
// rest does not wait for them.

import { Refused } from './session.js';
import { refusal } from './status.js';

/**
 * @typedef {typeof import('../vendor/xterm.mjs') & typeof import('../vendor/addon-search.mjs') &
 *   typeof import('../vendor/addon-web-links.mjs') & typeof import('./pane.js')} Library
 */

/** @type {Library | null} */
let all = null;

/** Fulfilled when what there is of the page is on the screen, if anybody looks. */
const painted = new Promise((resolve) => {
  if (document.hidden) resolve(null);
  else requestAnimationFrame(() => setTimeout(resolve));
});

/** How long the page itself must have taken to come for the line to be slow, in ms, and how long at most
 *  it is left to others then. */
const slowly = 200, longest = 5000;
/** @type {Promise<any>} */
let others = Promise.resolve();

/**
 * loadBehind has what is loaded here wait for something else that comes over a slow line: the list of
 * terminals is small, and would come behind it.
 * @param {Promise<any>} what
 */
export function loadBehind(what) {
  const [page] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
  if (!page || page.responseStart - page.requestStart < slowly) return;
  others = Promise.race([what, new Promise((resolve) => setTimeout(resolve, longest))]);
}

/** preload has the browser load what comes next, and take it only with the hash that the page names. */
function preload() {
  for (const link of document.querySelectorAll('link[rel=later]')) link.setAttribute('rel', 'modulepreload');
}

/** @type {Promise<void>} Fulfilled once there can be terminals; if they cannot be loaded, never. */
export const loaded = painted.then(() => others).then(preload).then(() => Promise.all([
  import('../vendor/xterm.mjs'), import('../vendor/addon-search.mjs'), import('../vendor/addon-web-links.mjs'),
  import('../js/pane.js'),
])).then((parts) => { all = Object.assign({}, ...parts); }, () => {
  refusal(new Refused('A part of it cannot be loaded.', { title: 'The page is not whole',
    advice: 'Reload it with Ctrl-Shift-R.' }));
  return new Promise(() => {});
});

/** library returns what they export. It must be loaded. */
export function library() { return /** @type {Library} */ (all); }

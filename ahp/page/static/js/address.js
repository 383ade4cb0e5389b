// The page's address: what is shown where stands behind its #, so that a reload, a bookmark and the
// browser's Back come to the same. It has NAMEs and options only.

import { formatFragment, parseFragment } from './fragment.js';
import { names, shape } from './layout.js';

/** @typedef {import('./layout.js').Layout} Layout */

/** Address dispatches "find" when the address asks for another text to be found; see find. */
export class Address extends EventTarget {
  place = ''; // what Back goes between: the tabs, and which of them is shown

  /**
   * @param {Layout} layout
   * @param {import('./fragment.js').Fragment} fragment What the page was opened with.
   */
  constructor(layout, fragment) {
    super();
    this.layout = layout;
    this.options = fragment.options;
    this.tabs = fragment.tabs;
    for (const event of ['change', 'size']) layout.addEventListener(event, () => this.write());
    addEventListener('popstate', () => this.read());
  }

  /** The text to be found in the terminal that has the focus. */
  get find() { return this.options.get('find') ?? ''; }

  /** @param {string} text "": nothing is looked for. */
  set find(text) {
    this.option('find', text);
    this.write();
  }

  /** open shows what the address says. */
  open() {
    this.place = '';
    this.layout.load(this.tabs, this.options.get('at') ?? '');
    if (this.find) this.dispatchEvent(new Event('find'));
  }

  /** read follows the address, which Back or the person has changed. */
  read() {
    const { ticket, tabs, options } = parseFragment(location.hash);
    if (ticket) return location.reload(); // somebody has opened the page anew, in this tab
    this.tabs = tabs;
    this.options = options;
    this.open();
  }

  write() {
    const { layout } = this, trees = layout.tabs.map((t) => t.tree), { focus } = layout;
    this.option('at', trees.length && names(trees[0])[0] !== focus ? focus : '');
    const address = formatFragment(trees, this.options);
    const place = trees.map(shape).join() + ' ' + layout.tabs.findIndex((t) => t === layout.current);
    const moved = this.place !== '' && place !== this.place;
    this.place = place;
    if (address !== location.hash) history[moved ? 'pushState' : 'replaceState'](null, '', address);
  }

  /**
   * @param {string} name
   * @param {string} value "": without it.
   */
  option(name, value) {
    if (value) this.options.set(name, value);
    else this.options.delete(name);
  }
}

// A list is one stop of the Tab key, within which the arrow keys, Page up and down, Home and End
// move.

/** How far Page up and down move. */
const page = 10;

export class Rove {
  /** @type {HTMLElement | null} What Tab stops at. */
  stop = null;

  /**
   * @param {HTMLElement} list
   * @param {string} selector Its elements, which are made with tabIndex -1.
   */
  constructor(list, selector) {
    this.list = list;
    this.selector = selector;
    list.addEventListener('keydown', (e) => this.key(e));
    list.addEventListener('focusin', (e) => {
      if (e.target instanceof HTMLElement && e.target.matches(selector)) this.settle(e.target);
    });
  }

  /** all returns those that are visible. */
  all() {
    const all = /** @type {NodeListOf<HTMLElement>} */ (this.list.querySelectorAll(this.selector));
    return [...all].filter((e) => e.offsetParent);
  }

  /**
   * settle chooses what Tab stops at; without a choice that stays, or is the first element.
   * @param {Element | null} [chosen]
   */
  settle(chosen) {
    const stop = chosen ?? (this.stop?.isConnected ? this.stop : this.list.querySelector(this.selector));
    if (this.stop && this.stop !== stop) this.stop.tabIndex = -1;
    this.stop = stop instanceof HTMLElement ? stop : null;
    if (this.stop && this.stop.tabIndex !== 0) this.stop.tabIndex = 0;
  }

  focus() { this.stop?.focus(); }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (e.altKey || e.ctrlKey || e.metaKey || !(e.target instanceof HTMLElement)) return;
    const all = this.all(), at = all.indexOf(e.target);
    /** @type {Record<string, number>} */
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1,
      PageDown: at + page, PageUp: at - page };
    if (at < 0 || !(e.key in to)) return;
    e.preventDefault();
    all[Math.max(0, Math.min(all.length - 1, to[e.key]))].focus();
  }
}

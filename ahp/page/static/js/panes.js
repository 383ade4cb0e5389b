// The tabs and the panes of the one that is shown. What is hidden costs nothing: its terminal is not
// followed, and comes back with a snapshot.

import { button, fill, h, writing } from './dom.js';
import { dragsFrom, dropsBetween } from './drag.js';
import { leaf, names, ratioNear, shape } from './layout.js';
import { library } from './library.js';
import { nameOf } from './reducers.js';
import { narrow, whenResized } from './small.js';
import { standing } from './standing.js';
import { settings } from './theme.js';
import { Welcome } from './welcome.js';

/**
 * @typedef {import('./pane.js').Pane} Pane
 * @typedef {import('./layout.js').Layout} Layout
 * @typedef {import('./layout.js').Tree} Tree
 * @typedef {import('./connection.js').Connection} Connection
 */

export class Panes {
  /** @type {Map<string, Pane>} By NAME. */
  panes = new Map();
  drawnTree = '';
  drawnTabs = '';
  begun = false;
  drawnActive = 0;
  /** @type {(() => void)[]} Each gives the two sides of a border the room that they have. */
  borders = [];

  /**
   * @param {Connection} connection
   * @param {Layout} layout
   * @param {import('./actions.js').Actions} actions
   * @param {{debug: boolean}} options
   */
  constructor(connection, layout, actions, options) {
    this.connection = connection;
    this.layout = layout;
    this.actions = actions;
    this.options = options;
    this.tabs = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Tabs' });
    dropsBetween(this.tabs, (moved, at) => layout.apart(moved, at));
    this.stage = h('div', { class: 'stage' });
    this.welcome = new Welcome(connection, { create: () => void actions.create(), show: (name) => layout.show(name) });
    layout.addEventListener('change', () => this.show());
    whenResized(() => this.draw());
    document.addEventListener('visibilitychange', () => this.tellLooks());
    connection.addEventListener('status', () => this.redraw());
    settings.addEventListener('change', () => this.redraw());
    connection.addEventListener('list', () => { this.drawTabs(); this.redraw(); });
  }

  /**
   * key leads from everything else back to the terminal with Escape.
   * @param {KeyboardEvent} e
   */
  key(e) {
    const focused = this.panes.get(this.layout.focus);
    if (e.key !== 'Escape' || e.defaultPrevented || e.isComposing || !focused) return;
    if (e.target instanceof Element && e.target.closest('[data-terminal], dialog')) return;
    focused.view.focus();
  }

  /**
   * neighbour returns the NAME of the pane that is nearest to another one in a direction; "": none.
   * @param {string} name
   * @param {import('./drag.js').Side} side
   */
  neighbour(name, side) {
    const from = this.panes.get(name)?.element.getBoundingClientRect();
    if (!from) return '';
    let best = '', least = Infinity;
    for (const [other, pane] of this.panes) {
      const box = pane.element.getBoundingClientRect();
      const gap = { left: from.left - box.right, right: box.left - from.right,
        top: from.top - box.bottom, bottom: box.top - from.bottom }[side];
      const across = side === 'left' || side === 'right' ?
        Math.max(box.top - from.top, from.top - box.bottom) : Math.max(box.left - from.left, from.left - box.right);
      if (other === name || gap < -1 || gap * 1000 + across >= least) continue;
      [best, least] = [other, gap * 1000 + across];
    }
    return best;
  }

  /** redraw shows again what the panes tell. */
  redraw() { for (const p of this.panes.values()) p.draw(); }

  /** begin shows panes from now on; see loaded. */
  begin() {
    this.begun = true;
    this.layout.changed();
  }

  /** settle begins panes anew that were shown before the list told their terminals' URIs. */
  settle() {
    for (const [name, p] of this.panes) {
      if (p.view.uri === this.connection.uriOf(name)) continue;
      p.dispose();
      this.panes.delete(name);
      this.drawnTree = '';
    }
    if (!this.drawnTree) this.layout.changed();
  }

  draw() {
    this.drawTabs();
    if (!this.begun) return;
    const tab = this.layout.current, shown = this.shown, key = shown ? shape(shown) : '';
    if (key !== this.drawnTree || !this.stage.firstChild) {
      this.drawnTree = key;
      this.arrange(shown);
    }
    for (const apply of this.borders) apply();
    for (const [name, p] of this.panes) p.element.classList.toggle('focused', name === tab?.focus);
    this.tellLooks();
  }

  /** show draws, and leads to the terminal that is shown, unless the person writes elsewhere. */
  show() {
    this.draw();
    const { focused } = this;
    if (focused && !focused.element.contains(document.activeElement) && !writing()) focused.view.focus();
  }

  /** tellLooks tells the host what the person looks at. */
  tellLooks() {
    this.connection.look(document.hidden ? [] : [...this.panes.values()].map((p) => p.view.uri));
  }

  /** What is shown: on a small screen only the pane that has the focus. */
  get shown() {
    const tab = this.layout.current;
    return tab && narrow.matches ? leaf(tab.focus) : tab?.tree;
  }

  /** The NAMEs of what is shown. */
  get visible() { return this.shown ? names(this.shown) : []; }

  /** The pane that has the focus. */
  get focused() { return this.panes.get(this.layout.focus); }

  /** @param {Tree} [tree] */
  arrange(tree) {
    const wanted = new Set(tree ? names(tree) : []);
    for (const [name, p] of this.panes) {
      if (wanted.has(name)) continue;
      p.dispose();
      this.panes.delete(name);
    }
    for (const name of wanted) {
      if (!this.panes.has(name)) {
        this.panes.set(name, new (library().Pane)(this.connection, name, this.actions, this.options));
      }
    }
    this.borders = [];
    if (tree) fill(this.stage, this.build(tree));
    else fill(this.stage, this.welcome.element);
    for (const p of this.panes.values()) p.open();
  }

  /**
   * @param {Tree} t
   * @returns {HTMLElement}
   */
  build(t) {
    if (t.kind === 'leaf') return /** @type {Pane} */ (this.panes.get(t.name)).element;
    const a = this.build(t.a), b = this.build(t.b);
    const border = h('div', { class: 'border', role: 'separator', tabIndex: 0,
      'aria-orientation': t.dir === 'h' ? 'vertical' : 'horizontal', 'aria-label': 'Border',
      'aria-valuemin': '0', 'aria-valuemax': '100', title: 'Drag; double-click: in the middle' });
    const el = h('div', { class: `split ${t.dir}` }, h('div', {}, a), border, h('div', {}, b));
    const apply = () => {
      el.style.setProperty('--a', `${t.ratio}fr`);
      el.style.setProperty('--b', `${1 - t.ratio}fr`);
      border.setAttribute('aria-valuenow', String(Math.round(t.ratio * 100)));
    };
    /** @param {number} ratio */
    const set = (ratio) => {
      t.ratio = ratioNear(ratio);
      apply();
    };
    border.addEventListener('pointerdown', (e) => border.setPointerCapture(e.pointerId));
    border.addEventListener('lostpointercapture', () => this.layout.resized());
    border.addEventListener('dblclick', () => {
      set(0.5);
      this.layout.resized();
    });
    border.addEventListener('pointermove', (e) => {
      if (!border.hasPointerCapture(e.pointerId)) return;
      const box = el.getBoundingClientRect();
      set(t.dir === 'h' ? (e.clientX - box.left) / box.width : (e.clientY - box.top) / box.height);
    });
    border.addEventListener('keydown', (e) => {
      const step = { ArrowLeft: -0.05, ArrowUp: -0.05, ArrowRight: 0.05, ArrowDown: 0.05 }[e.key];
      if (!step) return;
      set(t.ratio + step);
      this.layout.resized();
    });
    this.borders.push(apply);
    return el;
  }

  /**
   * standing returns what a tab shows of its terminals: the one that a person should know first.
   * @param {string[]} all
   */
  standing(all) {
    const order = ['needs', 'lost', 'signal', 'failed', 'running', 'ok'];
    return this.connection.terminals.filter((t) => all.includes(nameOf(t.resource))).map(standing)
      .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))[0];
  }

  /**
   * choose shows a tab. Where only one of its panes fits, the tab that is shown goes on to the next.
   * @param {import('./layout.js').Tab} tab
   */
  choose(tab) {
    const all = names(tab.tree);
    if (narrow.matches && tab.id === this.layout.active) {
      this.layout.focusOn(all[(all.indexOf(tab.focus) + 1) % all.length]);
    } else this.layout.activate(tab.id);
  }

  /**
   * called returns the NAMEs of a tab's terminals.
   * @param {import('./layout.js').Tab} tab
   */
  called(tab) { return names(tab.tree).map((name) => this.connection.called(name)); }

  /** drawTabs leaves the tabs alone if nothing has changed: somebody may be clicking on one. */
  drawTabs() {
    const key = JSON.stringify(this.layout.tabs.map((tab) =>
      [tab.id, this.called(tab), tab.id === this.layout.active, this.standing(names(tab.tree))]));
    if (key === this.drawnTabs) return;
    this.drawnTabs = key;
    fill(this.tabs, ...this.layout.tabs.map((tab) => {
      const all = names(tab.tree), called = this.called(tab), active = tab.id === this.layout.active;
      const s = this.standing(all);
      const close = () => all.forEach((n) => this.actions.close(n));
      // A tablist has tabs only (WAI-ARIA 1.2): the cross is the mouse's way, Delete the keyboard's.
      const cross = button(`Close ${called.join(', ')}`, '\u00d7', close, 'icon');
      cross.tabIndex = -1;
      cross.setAttribute('aria-hidden', 'true');
      const el = h('div', { class: 'tab', 'data-active': active ? '' : null },
        h('button', {
          type: 'button', role: 'tab', 'aria-selected': String(active), 'aria-label': called.join(', '), 'aria-keyshortcuts': 'Delete',
          'aria-description': s?.words, title: s?.words ?? '',
          onclick: () => this.choose(tab),
          onkeydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Delete') close(); },
          onauxclick: (/** @type {MouseEvent} */ e) => { if (e.button === 1) close(); },
        }, s && h('span', { class: `mark ${s.kind}`, 'aria-hidden': 'true' }, s.mark), called.join(' \u2502 ')),
        cross);
      dragsFrom(el, () => all);
      return el;
    }));
    if (this.drawnActive === this.layout.active) return;
    this.drawnActive = this.layout.active;
    this.tabs.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}

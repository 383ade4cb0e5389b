// Which terminals are shown where: tabs, each with a tree of panes. This is data only; panes.js
// shows it.

/**
 * @typedef {{kind: 'leaf', name: string}} Leaf
 * @typedef {{kind: 'split', dir: 'h' | 'v', ratio: number, a: Tree, b: Tree}} Split
 * @typedef {Leaf | Split} Tree
 * @typedef {{id: number, tree: Tree, focus: string}} Tab
 */

/** How many terminals a tab shows at most: each one that is shown is followed and drawn. */
export const mostPanes = 8;

/** The least that a pane keeps of the room that it shares with its neighbour. */
const leastRatio = 0.1;

/**
 * @param {string} name
 * @returns {Tree}
 */
export function leaf(name) { return { kind: 'leaf', name }; }

/**
 * @param {'h' | 'v'} dir h: side by side
 * @param {Tree} a
 * @param {Tree} b
 * @param {number} [ratio] The part of the room that a has.
 * @returns {Tree}
 */
export function split(dir, a, b, ratio = 0.5) { return { kind: 'split', dir, ratio: ratioNear(ratio), a, b }; }

/**
 * ratioNear returns a ratio that both sides can live with, and that is short when it is written down.
 * @param {number} ratio
 */
export function ratioNear(ratio) {
  return Math.round(Math.min(1 - leastRatio, Math.max(leastRatio, ratio || 0.5)) * 1000) / 1000;
}

/**
 * @param {Tree} t
 * @returns {string[]}
 */
export function names(t) { return t.kind === 'leaf' ? [t.name] : [...names(t.a), ...names(t.b)]; }

/**
 * replaced returns a tree in which change has been applied to the leaf of that name; where it
 * returns null the leaf goes. Parts of a row, or of a column, that had the same room each have so
 * still; otherwise only the neighbour has more room, or less.
 * @param {Tree} t
 * @param {string} name
 * @param {(leaf: Tree) => Tree | null} change
 * @param {'h' | 'v' | ''} [within] The direction of the split that t is a part of.
 * @returns {Tree | null}
 */
export function replaced(t, name, change, within = '') {
  if (t.kind === 'leaf') return t.name === name ? change(t) : t;
  const a = replaced(t.a, name, change, t.dir);
  const b = replaced(t.b, name, change, t.dir);
  if (a === t.a && b === t.b) return t;
  const now = a && b ? { ...t, a, b } : a ?? b;
  return now && t.dir !== within && isEven(t, t.dir) ? evened(now, t.dir) : now;
}

/**
 * together returns two trees side by side, or one below the other: as one row, or column, if both are
 * even ones.
 * @param {'h' | 'v'} dir
 * @param {Tree} a
 * @param {Tree} b
 */
function together(dir, a, b) {
  const both = split(dir, a, b);
  return isEven(a, dir) && isEven(b, dir) ? evened(both, dir) : both;
}

/** How much more room one part of a row has than another one, of all, when somebody has given it that. */
const uneven = 0.01;

/**
 * parts returns the parts of a row or a column, and which part of its room each has.
 * @param {Tree} t
 * @param {'h' | 'v'} dir
 * @param {number} [room] That of t.
 * @returns {{tree: Tree, room: number}[]}
 */
function parts(t, dir, room = 1) {
  if (t.kind === 'leaf' || t.dir !== dir) return [{ tree: t, room }];
  return [...parts(t.a, dir, room * t.ratio), ...parts(t.b, dir, room * (1 - t.ratio))];
}

/**
 * isEven tells whether each part of a row or a column has the same room.
 * @param {Tree} t
 * @param {'h' | 'v'} dir
 */
function isEven(t, dir) {
  const rooms = parts(t, dir).map((p) => p.room);
  return Math.max(...rooms) - Math.min(...rooms) < uneven;
}

/**
 * evened gives each part of a row or a column the same room.
 * @param {Tree} t
 * @param {'h' | 'v'} dir
 */
function evened(t, dir) {
  return parts(t, dir).map((p) => p.tree).reduce((left, part, i) => split(dir, left, part, i / (i + 1)));
}

/**
 * neighbour returns the NAME of the pane that is beside another one's and takes its room, or the
 * first of it, when that one goes; "": there is none.
 * @param {Tree} t
 * @param {string} name
 * @returns {string}
 */
function neighbour(t, name) {
  if (t.kind === 'leaf') return '';
  const inA = names(t.a).includes(name), own = inA ? t.a : t.b;
  if (own.kind === 'split') return neighbour(own, name);
  let heir = inA ? t.b : t.a;
  while (heir.kind === 'split') heir = heir.dir === t.dir && !inA ? heir.b : heir.a;
  return heir.name;
}

/**
 * fitting returns the tree, or what it shows in tabs of one pane each behind the first mostPanes.
 * @param {Tree} tree
 * @returns {Tree[]}
 */
function fitting(tree) {
  const more = names(tree).slice(mostPanes);
  /** @type {Tree | null} */
  let kept = tree;
  for (const name of more) kept = kept && replaced(kept, name, () => null);
  return [...kept ? [kept] : [], ...more.map(leaf)];
}

/**
 * shape returns the same for two trees that differ only in what dragging a border changes.
 * @param {Tree} t
 * @returns {string}
 */
export function shape(t) { return t.kind === 'leaf' ? t.name : `(${t.dir} ${shape(t.a)} ${shape(t.b)})`; }

/**
 * resize gives a tree the ratios of another one of the same shape.
 * @param {Tree} t
 * @param {Tree} as
 */
function resize(t, as) {
  if (t.kind !== 'split' || as.kind !== 'split') return;
  t.ratio = as.ratio;
  resize(t.a, as.a);
  resize(t.b, as.b);
}

/**
 * Layout is the tabs and which of them is shown. It dispatches "change"; "size" when only the room has
 * changed that panes have; and "full" when there is no room for another.
 */
export class Layout extends EventTarget {
  /** @type {Tab[]} */
  tabs = [];
  active = 0; // the id of a tab; 0: none
  next = 1;
  before = ''; // the NAME that had the focus before the one that has it now
  latest = '';

  changed() {
    if (this.focus !== this.latest) [this.before, this.latest] = [this.latest, this.focus];
    this.dispatchEvent(new Event('change'));
  }

  /** resized comes when the person has given a pane more room. */
  resized() { this.dispatchEvent(new Event('size')); }

  /** back shows what was looked at before. */
  back() { if (this.before) this.show(this.before); }

  get current() { return this.tabs.find((t) => t.id === this.active); }

  /** The NAME of the pane that has the focus; "": none. */
  get focus() { return this.current?.focus ?? ''; }

  /**
   * load shows other tabs. Those that are there already stay, with the room that each pane has now.
   * @param {Tree[]} trees
   * @param {string} at The NAME that has the focus, if it is among them.
   */
  load(trees, at) {
    const old = this.tabs, seen = new Set();
    this.tabs = [];
    for (const tree of trees.flatMap(fitting)) {
      const fresh = names(tree).every((n) => !seen.has(n));
      if (!fresh) continue; // a terminal is shown once
      names(tree).forEach((n) => seen.add(n));
      const same = old.find((t) => shape(t.tree) === shape(tree));
      if (same) resize(same.tree, tree);
      this.tabs.push(same ?? { id: this.next++, tree, focus: names(tree)[0] });
    }
    const tab = this.tabOf(at);
    if (tab) tab.focus = at;
    this.active = (tab ?? this.tabs[0])?.id ?? 0;
    this.changed();
  }

  /** @param {string} name */
  tabOf(name) { return this.tabs.find((t) => names(t.tree).includes(name)); }

  /**
   * show brings a terminal to the front: in the tab that it is in, or in a new one.
   * @param {string} name
   */
  show(name) {
    let tab = this.tabOf(name);
    if (!tab) {
      tab = { id: this.next++, tree: leaf(name), focus: name };
      this.tabs.push(tab);
    }
    tab.focus = name;
    this.active = tab.id;
    this.changed();
  }

  /**
   * splitFocus shows a terminal beside the pane that has the focus.
   * @param {string} name
   * @param {'h' | 'v'} dir
   */
  splitFocus(name, dir) {
    const tab = this.current;
    if (!tab) return this.show(name);
    if (this.tabOf(name) === tab || this.full(tab)) return this.show(name);
    if (this.tabOf(name)) this.remove(name);
    tab.tree = replaced(tab.tree, tab.focus, (t) => split(dir, t, leaf(name))) ?? leaf(name);
    tab.focus = name;
    this.changed();
  }

  /**
   * place shows a terminal, or all of a tab, at one side of another one's pane.
   * @param {string[]} moved NAMEs.
   * @param {string} target
   * @param {import('./drag.js').Side} side
   */
  place(moved, target, side) {
    const tab = this.tabOf(target), from = this.tabOf(moved[0]);
    if (moved.includes(target) || !tab) return;
    if (tab !== from && this.full(tab, moved.length)) return this.show(moved[0]);
    const tree = moved.length > 1 && from ? from.tree : leaf(moved[0]);
    for (const name of moved) this.remove(name);
    const dir = side === 'left' || side === 'right' ? 'h' : 'v', first = side === 'left' || side === 'top';
    tab.tree = replaced(tab.tree, target, (t) =>
      first ? together(dir, tree, t) : together(dir, t, tree)) ?? tree;
    tab.focus = moved[0];
    this.active = tab.id;
    this.changed();
  }

  /**
   * apart shows a terminal in a tab of its own, or moves a tab.
   * @param {string[]} moved NAMEs, all of a tab's or one.
   * @param {number} at How many tabs stand before.
   */
  apart(moved, at) {
    const from = this.tabOf(moved[0]), whole = from && names(from.tree).length === moved.length;
    const next = this.tabs.slice(at).find((t) => t !== from || !whole);
    const tab = whole ? from : { id: this.next++, tree: leaf(moved[0]), focus: moved[0] };
    if (whole) this.tabs.splice(this.tabs.indexOf(from), 1);
    else this.remove(moved[0]);
    this.tabs.splice(next ? this.tabs.indexOf(next) : this.tabs.length, 0, tab);
    this.active = tab.id;
    this.changed();
  }

  /**
   * full tells whether there is no room for another pane, or for more; the person is then told.
   * @param {Tab} tab
   * @param {number} [more]
   */
  full(tab, more = 1) {
    const is = names(tab.tree).length + more > mostPanes;
    if (is) this.dispatchEvent(new Event('full'));
    return is;
  }

  /**
   * close closes the view of a terminal. The terminal itself lives on.
   * @param {string} name
   */
  close(name) {
    this.remove(name);
    this.changed();
  }

  /** @param {string} name */
  remove(name) {
    const tab = this.tabOf(name);
    if (!tab) return;
    const tree = replaced(tab.tree, name, () => null);
    if (tree) {
      if (tab.focus === name) tab.focus = neighbour(tab.tree, name);
      tab.tree = tree;
      return;
    }
    const at = this.tabs.indexOf(tab);
    this.tabs.splice(at, 1);
    if (this.active === tab.id) {
      this.active = (this.tabs[at] ?? this.tabs[at - 1])?.id ?? 0;
    }
  }

  /** @param {number} id */
  activate(id) {
    this.active = id;
    this.changed();
  }

  /** @param {string} name */
  focusOn(name) {
    const tab = this.tabOf(name);
    if (!tab || tab.focus === name && this.active === tab.id) return;
    tab.focus = name;
    this.active = tab.id;
    this.changed();
  }
}

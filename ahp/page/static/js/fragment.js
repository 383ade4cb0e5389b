// The fragment of the page's address: the terminals that are shown, by NAME, and options. It is
// never sent to a server. Forms that are read:
//
//	#t=TICKET&/build,logs?debug=screen     a ticket, which is taken out at once
//	#/build,agent-7+logs                   two tabs; + is side by side, ~ one above the other
//	#/a+b+c                                each has a third of the room
//	#/build,(a~b)+c                        any nesting
//	#/build,(a~b:30)+c                     b has 30 % of the room that it shares with a
//	#/build,agent-7?split=h                all in one tab
//
// Anybody may have written an address: what is no NAME in it, comes twice or is beyond the limits
// is left out.

import { leaf, ratioNear, split } from './layout.js';
import { isName } from './reducers.js';

/**
 * @typedef {import('./layout.js').Tree} Tree
 * @typedef {{dir: 'h' | 'v', tree: Tree, size?: number}} Part What is beside, or below, all before it;
 *   size is its part of the room in percent.
 * @typedef {{ticket: string, tabs: Tree[], options: Map<string, string>}} Fragment
 */

/** How deep brackets nest: a tab's panes need less. */
const mostNested = 16;

/** How many terminals an address names: as many tabs as one could still look through. */
const mostNamed = 128;

/**
 * @param {string} text
 * @returns {Fragment}
 */
export function parseFragment(text) {
  const f = /** @type {Fragment} */ ({ ticket: '', tabs: [], options: new Map() });
  for (const item of text.replace(/^#/, '').split(/[?&]/)) {
    const cut = item.indexOf('=');
    if (item.startsWith('/')) f.tabs = parseTabs(decode(item.slice(1)));
    else if (item.startsWith('t=')) f.ticket = item.slice(2);
    else if (cut > 0) f.options.set(item.slice(0, cut), decode(item.slice(cut + 1)));
  }
  const together = f.options.get('split');
  f.options.delete('split');
  if (together && f.tabs.length > 1) {
    const dir = together === 'v' ? 'v' : 'h';
    f.tabs = chain(f.tabs.map((tree) => ({ dir, tree })));
  }
  return f;
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {Tree[]} tabs
 * @param {Map<string, string>} options
 */
export function formatFragment(tabs, options) {
  const items = [...options].map(([k, v]) => `${k}=${encodeURIComponent(v)}`);
  return '#/' + tabs.map((t) => formatTree(t, true)).join(',') +
    (items.length ? '?' + items.join('&') : '');
}

/**
 * @param {Tree} t
 * @param {boolean} top
 * @returns {string}
 */
function formatTree(t, top) {
  if (t.kind === 'leaf') return t.name;
  const size = `:${Math.round((1 - t.ratio) * 1000) / 10}`, row = equals(t);
  const text = (row ?? [t.a, t.b]).map((part) => formatTree(part, false))
    .join(t.dir === 'h' ? '+' : '~') + (row ? '' : size);
  return top ? text : `(${text})`;
}

/**
 * equals returns the parts of a split whose chain gives each the same room; null: it needs a size.
 * @param {import('./layout.js').Split} t
 */
function equals(t) {
  /** @type {Tree[]} */
  const parts = [];
  /** @type {Tree} */
  let left = t;
  for (let before = Math.round(t.ratio / (1 - t.ratio)); before > 0; before--) {
    if (left.kind === 'leaf' || left.dir !== t.dir || left.ratio !== share(before)) return null;
    parts.unshift(left.b);
    left = left.a;
  }
  return parts.length ? [left, ...parts] : null;
}

/**
 * share is the room of so many parts beside one more.
 * @param {number} before
 */
function share(before) { return ratioNear(before / (before + 1)); }

/**
 * chain returns the tree of parts, if there are any. Those of one direction without a size have the
 * same room each.
 * @param {Part[]} parts
 * @returns {Tree[]}
 */
function chain(parts) {
  if (!parts.length) return [];
  let left = parts[0].tree;
  for (let i = 1, end = 1; i < parts.length;) {
    const { dir } = parts[i];
    while (parts[end]?.dir === dir) end++;
    const equal = parts.slice(i, end).every((p) => p.size === undefined);
    for (let before = 1; i < end; i++, before++) {
      const { tree, size = 50 } = parts[i];
      left = split(dir, left, tree, equal ? share(before) : 1 - size / 100);
    }
  }
  return [left];
}

/**
 * @param {string} text
 * @returns {Tree[]}
 */
function parseTabs(text) {
  let depth = 0, at = 0;
  const tokens = (text.match(/[+~(),]|[^+~(),]+/g) ?? []).filter((token) => {
    if (token === '(') depth++;
    const kept = depth <= mostNested;
    if (token === ')' && depth > 0) depth--;
    return kept;
  });
  const seen = new Set();
  /** @returns {{tree?: Tree, size?: number}} */
  const term = () => {
    const token = tokens[at] ?? '';
    if (/^[+~),]?$/.test(token)) return {};
    at++;
    if (token !== '(') {
      const { name, size } = sized(token);
      if (!isName(name) || seen.has(name) || seen.size === mostNamed) return {};
      seen.add(name);
      return { tree: leaf(name), size };
    }
    const [tree] = expression();
    if (tokens[at] === ')') at++;
    return { tree, size: tokens[at]?.startsWith(':') ? sized(tokens[at++]).size : undefined };
  };
  const expression = () => {
    /** @type {Part[]} */
    const parts = [];
    for (let dir = /** @type {'h' | 'v'} */ ('h'); ; dir = tokens[at++] === '+' ? 'h' : 'v') {
      const { tree, size } = term();
      if (tree) parts.push({ dir, tree, size });
      if (tokens[at] !== '+' && tokens[at] !== '~') return chain(parts);
    }
  };
  const tabs = [];
  while (at < tokens.length) {
    const start = at;
    tabs.push(...expression());
    if (tokens[at] === ',' || at === start) at++;
  }
  return tabs;
}

/**
 * sized takes an item of the address apart; name is "" if it is none.
 * @param {string} item
 */
function sized(item) {
  const [, name = '', size] = /^([^:]*)(?::(\d+(?:\.\d+)?))?$/.exec(item) ?? [];
  return { name, size: size ? Number(size) : undefined };
}

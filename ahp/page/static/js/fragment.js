// The fragment of the page's address: the terminals that are shown, by NAME, and options. It is
// never sent to a server. Forms that are read:
//
//	#t=TICKET&/build,logs?debug=screen     a ticket, which is taken out at once
//	#/build,agent-7+logs                   two tabs; + is side by side, ~ one above the other
//	#/build,(a~b)+c                        any nesting
//	#/build,(a~b:30)+c                     b has 30 % of the room that it shares with a
//	#/build,agent-7?split=h                all in one tab

import { leaf, split } from './layout.js';

/**
 * @typedef {import('./layout.js').Tree} Tree
 * @typedef {{ticket: string, tabs: Tree[], options: Map<string, string>}} Fragment
 */

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
    f.tabs = [f.tabs.reduce((a, b) => split(dir, a, b))];
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
  const size = t.ratio === 0.5 ? '' : `:${Math.round((1 - t.ratio) * 1000) / 10}`;
  const text = formatTree(t.a, false) + (t.dir === 'h' ? '+' : '~') + formatTree(t.b, false) + size;
  return top ? text : `(${text})`;
}

/**
 * @param {string} text
 * @returns {Tree[]}
 */
function parseTabs(text) {
  const tokens = text.match(/:[0-9.]*|[A-Za-z0-9._-]+|[+~(),]/g) ?? [];
  let at = 0;
  /** @returns {Tree | null} */
  const term = () => {
    const token = tokens[at];
    if (token === '(') {
      at++;
      const inner = expression();
      if (tokens[at] === ')') at++;
      return inner;
    }
    if (!token || /^[+~),:]/.test(token)) return null;
    at++;
    return leaf(token);
  };
  /** @returns {Tree | null} */
  const expression = () => {
    let left = term();
    while (tokens[at] === '+' || tokens[at] === '~') {
      const dir = tokens[at++] === '+' ? 'h' : 'v';
      const right = term();
      const size = tokens[at]?.startsWith(':') ? Number(tokens[at++].slice(1)) : 50;
      left = left && right ? split(dir, left, right, 1 - size / 100) : left ?? right;
    }
    return left;
  };
  const tabs = [];
  while (at < tokens.length) {
    const start = at;
    const tree = expression();
    if (tree) tabs.push(tree);
    if (tokens[at] === ',' || at === start) at++;
  }
  return tabs;
}

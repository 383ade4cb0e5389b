// The list of all terminals: what needs the person first, then what runs, then what has ended.

import { button, fill, h } from './dom.js';
import { entryOf } from './entry.js';
import { age } from './format.js';
import { icon } from './icons.js';
import { passOn } from './presses.js';
import { calledOf, exitOf, nameOf, pathOf } from './reducers.js';
import { Rove } from './rove.js';
import { need } from './standing.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {import('./reducers.js').TerminalInfo} TerminalInfo
 * @typedef {{open(name: string, beside: '' | 'h' | 'v'): void, create(): void,
 *   visible(): string[], focus(): string}} Actions
 * @typedef {{el: HTMLLIElement, key: string}} Row
 */

const groups = [
  { id: 'needs', title: 'Needs you' }, { id: 'running', title: 'Running' },
  { id: 'exited', title: 'Exited' },
];

export class List {
  filter = '';
  current = ''; // the NAME that has the focus
  /** @type {Map<string, Row>} By URI. */
  rows = new Map();

  /**
   * @param {Connection} connection
   * @param {Actions} actions
   */
  constructor(connection, actions) {
    this.connection = connection;
    this.actions = actions;
    this.field = h('input', {
      type: 'search', placeholder: 'Filter', 'aria-label': 'Filter', autocomplete: 'off',
      spellcheck: false, oninput: () => { this.filter = this.field.value.toLowerCase(); this.draw(); },
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e),
    });
    this.body = h('div', { class: 'entries', role: 'list', 'aria-label': 'Terminals' });
    this.sections = groups.map((g) => {
      const list = h('ul', { role: 'presentation' });
      const count = h('span', { class: 'count' });
      const section = h('section', { hidden: true, role: 'presentation' }, h('h2', {}, g.title, ' ', count), list);
      this.body.append(section);
      return { ...g, section, list, count };
    });
    this.body.addEventListener('keydown', (e) => this.type(e), true);
    this.rove = new Rove(this.body, 'button.entry');
    this.empty = h('p', { class: 'empty' });
    this.brand = h('span', { class: 'brand' }, 'termhost');
    this.element = h('nav', { class: 'sidebar', 'aria-label': 'All terminals' },
      h('header', {}, this.brand,
        button('New terminal', '+', () => actions.create(), 'icon')),
      this.field, this.body, this.empty);
    connection.addEventListener('list', () => this.draw());
    setInterval(() => this.tick(), 1000);
  }

  /** tick counts on for what runs and what waits. */
  tick() {
    if (document.hidden) return;
    for (const el of this.body.querySelectorAll('[data-since]')) {
      const text = age(this.connection.now() - Number(el.getAttribute('data-since')));
      if (el.textContent !== text) el.textContent = text;
    }
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (e.key === 'Escape' && this.field.value) {
      e.preventDefault();
      this.field.value = this.filter = '';
      this.draw();
    } else if (e.key === 'Enter' && !e.isComposing) {
      const first = this.body.querySelector('section:not([hidden]) button.entry');
      if (!(first instanceof HTMLElement)) return;
      this.field.blur(); // or it would keep the focus
      first.click();
    } else if (e.key === 'ArrowDown') {
      e.preventDefault();
      this.rove.settle(this.body.querySelector('button.entry'));
      this.rove.focus();
    }
  }

  /**
   * type leads from an entry back to the filter: what is typed there filters.
   * @param {KeyboardEvent} e
   */
  type(e) {
    if (e.ctrlKey || e.altKey || e.metaKey || e.isComposing) return;
    const first = e.key === 'ArrowUp' && e.target === this.body.querySelector('section:not([hidden]) button.entry');
    if (!first && (e.key === ' ' || [...e.key].length !== 1)) return;
    if (first) e.preventDefault();
    e.stopPropagation();
    passOn(this.field);
  }

  draw() {
    if (!this.connection.listed) return;
    this.brand.textContent = this.brand.title = this.connection.host || 'termhost';
    const matching = this.connection.terminals.filter((t) => this.matches(t));
    const visible = new Set(this.actions.visible()), focus = this.actions.focus();
    /** @type {Set<string>} */
    const kept = new Set();
    for (const s of this.sections) {
      const rows = matching.filter((t) => groupOf(t) === s.id).map((t) => {
        kept.add(t.resource);
        return this.row(t, visible.has(nameOf(t.resource)), focus === nameOf(t.resource));
      });
      s.section.hidden = rows.length === 0;
      s.count.textContent = String(rows.length);
      place(s.list, rows);
    }
    for (const uri of this.rows.keys()) if (!kept.has(uri)) this.rows.delete(uri);
    this.rove.settle();
    if (focus !== this.current) {
      this.current = focus;
      this.body.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
    }
    this.empty.hidden = matching.length > 0;
    this.empty.textContent = this.filter ? 'None matches.' : 'No terminal yet.';
  }

  /** @param {TerminalInfo} t */
  matches(t) {
    const { cwd, last } = t._meta?.termhost ?? {};
    return [calledOf(t), t.title, last?.commandLine, pathOf(cwd)].join(' ').toLowerCase().includes(this.filter);
  }

  /**
   * row returns the element of a terminal, the one that is there if nothing about it has changed.
   * @param {TerminalInfo} t
   * @param {boolean} visible
   * @param {boolean} focused
   */
  row(t, visible, focused) {
    const { connection } = this, name = nameOf(t.resource), called = calledOf(t);
    const about = entryOf(t, connection.clientId, pathOf(connection.directory));
    const key = JSON.stringify([called, about, visible, focused]);
    const old = this.rows.get(t.resource);
    if (old?.key === key) return old.el;
    const el = old?.el ?? h('li', { role: 'listitem' });
    /** @param {number} at */
    const since = (at) => h('span', { 'data-since': String(at) }, age(connection.now() - at));
    const entry = h('button', {
      type: 'button', class: 'entry', tabIndex: -1, 'aria-current': focused ? 'true' : null,
      'data-visible': visible ? '' : null, title: about.tip,
      'aria-label': [called, about.state, about.guarded && 'guarded', about.holder, about.what, about.where, about.title].filter(Boolean).join(', '),
      onclick: (/** @type {MouseEvent} */ e) => this.actions.open(name, besideBy(e)),
      onkeydown: (/** @type {KeyboardEvent} */ e) => {
        if (e.key !== 'Enter' || !e.altKey) return;
        e.preventDefault();
        this.actions.open(name, besideBy(e));
      },
    },
    h('span', { class: `mark ${about.kind}`, 'aria-hidden': 'true' }, about.mark),
    h('span', { class: 'name' }, called),
    h('span', { class: `state ${about.kind}` }, about.guarded && h('span', { class: 'guarded' }, icon('guard'), 'guarded'),
      about.short && h('bdi', {}, about.short), about.waits > 0 && ' ', about.waits > 0 && since(about.waits)),
    about.what && h('bdi', { class: about.code ? 'what code' : 'what' }, about.what),
    about.what && about.runs > 0 && h('span', { class: 'time' }, since(about.runs)),
    about.where && h('bdi', { class: 'where' }, about.where),
    about.title && h('bdi', { class: 'title' }, about.title));
    const hadFocus = el.contains(document.activeElement);
    fill(el, entry);
    if (hadFocus) entry.focus();
    this.rows.set(t.resource, { el, key });
    return el;
  }
}

/**
 * place puts rows into a list in their order. If one comes or goes, no other is touched.
 * @param {Element} list
 * @param {Element[]} rows
 */
function place(list, rows) {
  const kept = new Set(rows);
  for (const old of [...list.children]) if (!kept.has(old)) old.remove();
  let at = list.firstElementChild;
  for (const row of rows) {
    if (row === at) at = at.nextElementSibling;
    else list.insertBefore(row, at);
  }
}

/**
 * besideBy says where a terminal is opened: with Alt beside what is shown, with Shift, too, below it.
 * @param {MouseEvent | KeyboardEvent} e
 */
function besideBy(e) { return !e.altKey ? '' : e.shiftKey ? 'v' : 'h'; }

/** @param {TerminalInfo} t */
function groupOf(t) { return exitOf(t).exited ? 'exited' : need(t) ? 'needs' : 'running'; }

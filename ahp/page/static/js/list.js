// The list of all terminals: what needs the person first, then what runs, then what has ended.

import { Answer } from './answer.js';
import { button, fill, h } from './dom.js';
import { dragsFrom } from './drag.js';
import { entryOf, labelsOf } from './entry.js';
import { age, oneLine } from './format.js';
import { icon } from './icons.js';
import { menu } from './menu.js';
import { passOn } from './presses.js';
import { calledOf, exitOf, nameOf, pathOf } from './reducers.js';
import { Rove } from './rove.js';
import { narrow, whenResized } from './small.js';
import { need } from './standing.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {import('./reducers.js').TerminalInfo} TerminalInfo
 * @typedef {{open(name: string, beside: '' | 'h' | 'v'): void, create(on?: string): void,
 *   visible(): string[], focus(): string, reply: import('./answer.js').Reply}} Actions
 * @typedef {{el: HTMLLIElement, key: string}} Row
 */

const sections = [
  { id: 'needs', title: 'Needs you' }, { id: 'running', title: 'Running' },
  { id: 'exited', title: 'Exited' },
];

export class List {
  filter = '';
  current = ''; // the NAME that has the focus
  /** @type {Map<string, Row>} By URI. */
  rows = new Map();
  /** @type {Map<string, Answer>} By URI: of those that need the person, on a small screen. */
  answers = new Map();
  /** @type {Map<string, HTMLLIElement>} By section and name: the headings of groups. */
  headings = new Map();

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
    // A list has items only (WAI-ARIA 1.2), so that no group and no heading is in it: each entry says
    // itself how it stands.
    this.sections = sections.map((g) => {
      const list = h('ul', { role: 'presentation' });
      const count = h('span', { class: 'count' });
      const section = h('section', { hidden: true, role: 'presentation' },
        h('h2', { role: 'presentation' }, g.title, ' ', count), list);
      this.body.append(section);
      return { ...g, section, list, count };
    });
    this.body.addEventListener('keydown', (e) => this.type(e), true);
    this.rove = new Rove(this.body, 'button.entry');
    this.empty = h('p', { class: 'empty' });
    this.brand = h('span', { class: 'brand' }, 'termhost');
    this.make = button('New terminal', '+', () => actions.create(), 'icon');
    this.places = h('span', { class: 'places' }); // on which it may be made
    this.placed = '';
    this.element = h('nav', { class: 'sidebar', 'aria-label': 'All terminals' },
      h('header', {}, this.brand, this.make, this.places),
      this.field, this.body, this.empty);
    connection.addEventListener('list', () => this.draw());
    whenResized(() => this.draw());
    setInterval(() => this.tick(), 1000);
  }

  /** tick counts on for what runs and what waits. */
  tick() {
    if (document.hidden) return;
    for (const a of this.answers.values()) void a.look();
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
    this.make.hidden = !this.connection.maker;
    this.drawPlaces();
    const matching = this.connection.terminals.filter((t) => this.matches(t));
    const visible = new Set(this.actions.visible()), focus = this.actions.focus();
    /** @type {Set<string>} */
    const kept = new Set();
    for (const s of this.sections) {
      const all = matching.filter((t) => sectionOf(t) === s.id);
      for (const t of all) kept.add(t.resource);
      s.section.hidden = all.length === 0;
      s.count.textContent = String(all.length);
      place(s.list, parted(all, s.id).flatMap(([group, part]) => [
        ...group ? [this.heading(s.id, group)] : [],
        ...part.map((t) => this.row(t, visible.has(nameOf(t.resource)), focus === nameOf(t.resource)))]));
    }
    for (const [key, el] of this.headings) if (!el.isConnected) this.headings.delete(key);
    for (const uri of this.rows.keys()) {
      if (kept.has(uri)) continue;
      this.rows.delete(uri);
      this.drop(uri);
    }
    this.rove.settle();
    if (focus !== this.current) {
      this.current = focus;
      this.body.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
    }
    this.empty.hidden = matching.length > 0;
    this.empty.textContent = this.filter ? 'None matches.' : 'No terminal yet.';
  }

  /** drawPlaces has a menu of the hosts where there are several. */
  drawPlaces() {
    const { hosts, maker } = this.connection, key = JSON.stringify([hosts, maker]);
    if (key === this.placed) return;
    this.placed = key;
    fill(this.places, maker && hosts.length > 1 && menu(hosts.map((p) => ({
      label: p.host, detail: p.self ? 'this host' : p.unreachable ? 'unreachable' : '',
      run: () => this.actions.create(p.self ? '' : p.host) })), () => {}, 'New terminal on\u2026', '\u25be'));
  }

  /** @param {string} uri */
  answerOf(uri) {
    const answer = this.answers.get(uri) ?? new Answer(this.connection, this.actions.reply);
    this.answers.set(uri, answer);
    return answer;
  }

  /** @param {string} uri Of a terminal that has no card any more. */
  drop(uri) {
    this.answers.get(uri)?.dispose();
    this.answers.delete(uri);
  }

  /**
   * heading returns the heading of a group, which is no item of the list: each entry says its group.
   * @param {string} section
   * @param {string} group
   */
  heading(section, group) {
    const key = `${section} ${group}`, el = this.headings.get(key) ??
      h('li', { class: 'group', role: 'presentation' }, h('bdi', { title: group }, group));
    return this.headings.set(key, el), el;
  }

  /** @param {TerminalInfo} t */
  matches(t) {
    const { cwd, labels, last, program } = t._meta?.termhost ?? {};
    return [calledOf(t), t.title, t.group, last?.commandLine, program, pathOf(cwd), labelsOf(labels)].join(' ').toLowerCase().includes(this.filter);
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
    const asks = narrow.matches && sectionOf(t) === 'needs';
    const key = JSON.stringify([called, about, visible, focused, asks]);
    const old = this.rows.get(t.resource);
    if (asks) this.answerOf(t.resource).draw(t);
    else this.drop(t.resource);
    if (old?.key === key) return old.el;
    const el = old?.el ?? h('li', { role: 'listitem' });
    if (!old) dragsFrom(el, () => [name]);
    /** @param {number} at */
    const since = (at) => h('span', { 'data-since': String(at) }, age(connection.now() - at));
    const entry = h('button', {
      type: 'button', class: 'entry', tabIndex: -1, 'aria-current': focused ? 'true' : null,
      'data-visible': visible ? '' : null, 'data-away': about.away ? '' : null, title: about.tip,
      'aria-label': [called, about.state, about.guarded && 'guarded', about.holder, about.what, about.where, about.title, about.group].filter(Boolean).join(', '),
      onclick: (/** @type {MouseEvent} */ e) => this.actions.open(name, besideBy(e)),
      onkeydown: (/** @type {KeyboardEvent} */ e) => {
        if (e.key !== 'Enter' || !e.altKey) return;
        e.preventDefault();
        this.actions.open(name, besideBy(e));
      },
    },
    h('span', { class: `mark ${about.kind}`, 'aria-hidden': 'true' }, about.mark),
    // What is hidden is in the name of the button, in whole words.
    h('span', { class: 'head' }, h('span', { class: 'name' }, called), h('span', { class: `state ${about.kind}`, 'aria-hidden': 'true' },
      about.guarded && h('span', { class: 'guarded' }, icon('guard'), 'guarded'),
      about.short && h('bdi', {}, about.short), about.waits > 0 && ' ', about.waits > 0 && since(about.waits))),
    about.what && h('bdi', { class: about.code ? 'what code' : 'what', 'aria-hidden': 'true' }, about.what),
    about.what && about.runs > 0 && h('span', { class: 'time', 'aria-hidden': 'true' }, since(about.runs)),
    about.where && h('bdi', { class: 'where', 'aria-hidden': 'true' }, about.where),
    about.title && h('bdi', { class: 'title', 'aria-hidden': 'true' }, about.title));
    const hadFocus = el.contains(document.activeElement);
    fill(el, entry, asks && this.answerOf(t.resource).element);
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

/**
 * parted returns the terminals of a section by groups, in the order of their names; first those that
 * are in none. Where there are not several, they are not parted.
 * @param {TerminalInfo[]} all
 * @param {string} section
 * @returns {[string, TerminalInfo[]][]}
 */
function parted(all, section) {
  /** @type {Map<string, TerminalInfo[]>} */
  const groups = new Map();
  for (const t of all) {
    const group = oneLine(t.group ?? '', 64), part = groups.get(group);
    if (part) part.push(t);
    else groups.set(group, [t]);
  }
  if (groups.size < 2 || section === 'needs') return [['', all]];
  return [...groups].sort(([a], [b]) => a < b ? -1 : 1);
}

/** @param {TerminalInfo} t */
function sectionOf(t) { return exitOf(t).exited ? 'exited' : need(t) ? 'needs' : 'running'; }

// The commands of a terminal: line, status, duration, directory, who. A click shows the output.

import { button, fill, h } from './dom.js';
import { duration, oneLine, outcome, shortPath } from './format.js';
import { Rove } from './rove.js';

/** How many commands are shown: the newest. */
const most = 200;

/** @typedef {import('./reducers.js').Command} Command */

/** @param {Command} c */
export function commandOutcome(c) {
  return c.done ? outcome(c.exitCode) : { kind: 'running', mark: '\u25cf', words: 'running' };
}

export class Commands {
  drawn = '';
  chosen = ''; // the ID of the command whose output is shown

  /**
   * @param {{choose(command: Command): void, home(): string, closed(): void}} o
   */
  constructor(o) {
    this.o = o;
    this.list = h('ol', { role: 'list', 'aria-label': 'Commands' });
    this.rove = new Rove(this.list, 'button');
    this.empty = h('p', { class: 'empty' });
    this.element = h('section', { class: 'commands', tabIndex: -1, 'aria-label': 'Commands of the terminal' }, 
      h('header', {}, h('h2', {}, 'Commands'), button('Close the commands', '\u00d7', () => o.closed(), 'icon')), this.list, this.empty);
    this.timer = setInterval(() => this.tick(), 1000);
  }

  dispose() { clearInterval(this.timer); }

  /** @param {import('./reducers.js').TerminalState} state */
  draw(state) {
    const shown = state.commands.slice(-most).reverse();
    const key = JSON.stringify([this.chosen, shown.map((c) => [c.id, c.done, c.exitCode])]);
    this.empty.textContent = state.detection ? 'No command yet.' :
      'This program does not tell of its commands; bash, zsh and fish do.';
    this.empty.hidden = shown.length > 0;
    if (key === this.drawn) return;
    this.drawn = key;
    const focused = document.activeElement?.closest('li')?.dataset.command;
    fill(this.list, ...shown.map((c, i) => this.row(c, shown[i + 1])));
    for (const li of this.list.children) {
      if (focused && li instanceof HTMLElement && li.dataset.command === focused) {
        li.querySelector('button')?.focus({ preventScroll: true });
      }
    }
    this.rove.settle();
  }

  /**
   * @param {Command} c
   * @param {Command} [before] The command before it.
   */
  row(c, before) {
    const o = commandOutcome(c);
    const time = h('span', { class: 'time', 'data-since': c.done ? null : String(c.at) },
      c.done ? c.durationMs === undefined ? '' : duration(c.durationMs) : duration(Date.now() - c.at));
    const line = oneLine(c.line, 300) || '(no line)';
    const by = c.by && c.by !== '-' ? oneLine(c.by, 40) : '';
    const cwd = c.cwd && c.cwd !== before?.cwd ? shortPath(c.cwd, this.o.home()) : '';
    return h('li', { role: 'listitem', 'data-command': c.id },
      h('button', {
        type: 'button', class: 'command', tabIndex: -1, 'aria-expanded': String(c.id === this.chosen),
        title: [new Date(c.at).toLocaleString(), oneLine(c.cwd ?? '', 4096), line].filter(Boolean).join('\n'),
        onclick: () => this.o.choose(c),
      },
      h('span', { class: `mark ${o.kind}`, 'aria-hidden': 'true' }, o.mark),
      h('code', {}, line), h('span', { class: 'code' }, o.words),
      by && h('span', { class: 'by' }, by), time,
      cwd && h('span', { class: 'cwd' }, cwd)));
  }

  /** tick counts on for what is running. */
  tick() {
    for (const el of this.list.querySelectorAll('[data-since]')) {
      el.textContent = duration(Date.now() - Number(el.getAttribute('data-since')));
    }
  }
}

// What is there while no terminal is shown: what this is, how to begin, and how agents come in.

import { button, fill, h } from './dom.js';
import { dropsOn } from './drag.js';
import { keyTable } from './keyhelp.js';
import { aboutName, sshName, typed } from './sshline.js';

const keys = [
  ['Ctrl-\\ ?', 'all keys; the others go to the program'],
  ['Ctrl-\\ +', 'a new terminal'],
  ['Ctrl-\\ l', 'pick one from the list'],
  ['Alt-click in the list', 'show it beside what is shown'],
];

export class Welcome {
  drawn = '';

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {{create(): void, show(name: string): void}} actions
   */
  constructor(connection, actions) {
    this.connection = connection;
    this.actions = actions;
    this.element = h('div', { class: 'welcome' });
    dropsOn(this.element, (names) => actions.show(names[0]));
    connection.addEventListener('list', () => this.draw());
    this.draw();
  }

  draw() {
    const { connection } = this, { host, maker } = connection, some = connection.terminals.length > 0;
    const key = JSON.stringify([connection.listed, host, some, maker]);
    if (key === this.drawn) return;
    this.drawn = key;
    if (!connection.listed) return;
    fill(this.element, h('div', {}, h('h2', {}, host ? `Terminals on ${host}` : 'Terminals'),
      h('p', {}, 'They go on when this page is closed. ssh, agents and other windows see the same ones.'),
      h('p', { class: 'begin' },
        maker && button('New terminal', 'New terminal', () => this.actions.create(), 'primary'),
        some && h('span', {}, maker ? 'or choose one in the list' : 'Choose one in the list.'),
        !some && !maker && h('span', {}, 'There is none yet.')),
      keyTable('Keys', keys),
      maker && h('section', { 'aria-label': 'Agents' }, h('h3', {}, 'Agents come in through ssh'),
        h('p', {}, 'as a server of MCP, here for Claude Code:'),
        typed(`claude mcp add ${sshName()} -- ssh ${sshName()} mcp`),
        h('p', {}, 'or over AHP, with one message a line:'),
        typed(`ssh ${sshName()} -s ahp`),
        h('p', { class: 'hint' }, aboutName()))));
  }
}

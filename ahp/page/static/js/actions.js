// What the person can do to terminals.

import { ask, notice } from './dialogs.js';
import { mostPanes } from './layout.js';
import { exitOf, nameOf, namePattern } from './reducers.js';
import { need } from './standing.js';
import { settings } from './theme.js';
import { terminalURI } from './wire.js';

/** @typedef {import('./pane.js').Actions} PaneActions */

/** @implements {PaneActions} */
export class Actions {
  /** @type {import('./panes.js').Panes | null} */
  panes = null;
  /** @type {import('./list.js').List | null} */
  list = null;

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {import('./layout.js').Layout} layout
   */
  constructor(connection, layout) {
    this.connection = connection;
    this.layout = layout;
    layout.addEventListener('full', () =>
      notice(`A tab shows at most ${mostPanes} terminals: this one has a tab of its own.`));
  }

  /** @param {string} name */
  info(name) { return this.connection.find(name); }

  freeName() {
    for (let i = 1; ; i++) if (!this.info(`web-${i}`)) return `web-${i}`;
  }

  /**
   * create asks what to run, and shows it.
   * @param {{beside: 'h' | 'v'} | null} [where] Beside the pane with the focus; otherwise in a tab.
   */
  async create(where = null) {
    const shown = where ? undefined : this.panes?.focused;
    const answer = await ask({
      title: 'New terminal', yes: 'New',
      fields: [
        { name: 'name', label: 'Name', value: shown?.view.missing ? shown.name : this.freeName(), pattern: namePattern,
          hint: '1 to 64 letters, digits, dots, underscores and dashes' },
        { name: 'command', label: 'Command', placeholder: 'your shell' },
        { name: 'dir', label: 'Directory', placeholder: 'home', pattern: '(/.*)?',
          hint: 'an absolute path on the host' },
      ],
    });
    if (!answer) return;
    const { name, command, dir } = answer;
    try {
      await this.connection.request('createTerminal', {
        channel: terminalURI(name), claim: { kind: 'client', clientId: this.connection.clientId },
        ...(dir && { cwd: 'file://' + dir.split('/').map(encodeURIComponent).join('/') }),
        ...(command && { _meta: { termhost: { command: '/bin/sh', args: ['-c', command] } } }),
      });
    } catch (e) {
      return notice(/** @type {Error} */ (e).message);
    }
    if (where) this.layout.splitFocus(name, where.beside);
    else this.layout.show(name);
  }

  /**
   * command does what a key behind the prefix asks for beside the keyboard itself.
   * @param {string} name The terminal that it was typed into.
   * @param {string} key
   */
  command(name, key) {
    switch (key) {
      case 'd': return this.close(name);
      case '+': return void this.create();
      case 'l': return this.list?.field.focus();
      case '\t': return this.layout.back();
      case 'b': return this.panes?.panes.get(name)?.focusBar();
      case 'left': case 'right': case 'top': case 'bottom': {
        const next = this.panes?.neighbour(name, key);
        return next ? this.layout.focusOn(next) : undefined;
      }
      case 'n': {
        const all = this.connection.terminals, here = all.findIndex((t) => nameOf(t.resource) === name);
        const next = [...all.slice(here + 1), ...all.slice(0, Math.max(here, 0))].find((t) => need(t)); // each in turn
        if (next) this.layout.show(nameOf(next.resource));
        else notice('No other terminal wants you.');
      }
    }
  }

  /**
   * @param {string} name
   * @param {string} target
   * @param {import('./drag.js').Side} side
   */
  place(name, target, side) { this.layout.place(name, target, side); }

  /**
   * decide answers what an agent wants to type.
   * @param {string} name
   * @param {string} ask
   * @param {import('./asks.js').Decision} decision
   * @param {string} reason What the agent is told; "": nothing.
   */
  decide(name, ask, decision, reason) {
    const channel = this.connection.uriOf(name);
    return this.tried(this.connection.request('termhost/approve', { channel, ask, decision, ...(reason && { reason }) }));
  }

  /** @param {string} name */
  focus(name) { this.layout.focusOn(name); }

  /** @param {string} name */
  close(name) {
    const keyboard = this.panes?.panes.get(name)?.view.keyboard;
    if (settings.values.release && keyboard?.told.lender) void keyboard.handBack();
    this.layout.close(name);
  }

  /**
   * split makes room beside a terminal, for a new one. Alt-click in the list puts others there.
   * @param {string} name
   * @param {'h' | 'v'} dir
   */
  split(name, dir) {
    this.layout.focusOn(name);
    void this.create({ beside: dir });
  }

  /** @param {string} name */
  async rename(name) {
    const info = this.info(name);
    if (!info) return;
    const answer = await ask({ title: `Rename ${this.connection.called(name)}`, yes: 'Rename',
      text: 'The title is for people; the name stays.',
      fields: [{ name: 'title', label: 'Title', value: info.title }] });
    if (!answer) return;
    await this.tried(this.connection.dispatch(info.resource,
      { type: 'terminal/titleChanged', title: answer.title }));
  }

  /** @param {string} name */
  async end(name) {
    const info = this.info(name);
    if (!info) return this.layout.close(name);
    if (!exitOf(info).exited && !await ask({ title: `End ${this.connection.called(name)}?`, danger: true, yes: 'End it',
      text: 'Its programs are ended, and the terminal is forgotten.' })) return;
    if (await this.tried(this.dispose(info.resource))) this.layout.close(name);
  }

  /**
   * dispose takes the keyboard only where it is needed: an admin ends a terminal without.
   * @param {string} channel
   */
  async dispose(channel) {
    const end = () => this.connection.request('disposeTerminal', { channel });
    try {
      await end();
    } catch (e) {
      if (!/needs the claim/.test(/** @type {Error} */ (e).message)) throw e;
      const claim = { kind: 'client', clientId: this.connection.clientId };
      await this.connection.dispatch(channel, { type: 'terminal/claimed', claim });
      await end();
    }
  }

  /** @param {Promise<any>} p */
  async tried(p) {
    try {
      await p;
      return true;
    } catch (e) {
      notice(/** @type {Error} */ (e).message);
      return false;
    }
  }

  commands() { return settings.values.commands; }

  toggleCommands() { settings.set({ commands: !this.commands() }); }
}

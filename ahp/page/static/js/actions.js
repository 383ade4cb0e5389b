// What the person can do to terminals.

import { ask, notice } from './dialogs.js';
import { keyHelp } from './keyhelp.js';
import { mostPanes } from './layout.js';
import { exitOf, hostOf, nameOf } from './reducers.js';
import { RPCError } from './rpc.js';
import { need } from './standing.js';
import { settings } from './theme.js';
import { terminalExists, terminalURI } from './wire.js';

/** @typedef {import('./pane.js').Actions} PaneActions */

/** @implements {PaneActions} */
export class Actions {
  /** @type {import('./panes.js').Panes | null} */
  panes = null;
  /** @type {import('./list.js').List | null} */
  list = null;
  making = false; // a terminal

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

  /**
   * create makes a terminal at once, with the person's shell, in the directory of the one that it was
   * asked from, and shows it.
   * @param {'' | 'h' | 'v'} [beside] Where: beside the pane with the focus, below it, or else in a tab.
   * @param {string} [host] On which, of the fleet; '': this one; undefined: that of what it was asked from.
   */
  async create(beside = '', host) {
    const from = this.panes?.focused?.view, here = hostOf(from?.name ?? ''), on = host ?? here;
    const wanted = from?.missing && !beside && host === undefined ? from.name : ''; // which the page has said it may be
    const { cwd = '' } = from && !from.missing && !from.state.client && on === here ? from.state : {};
    if (this.making) return; // a key that is held makes one
    this.making = true;
    try {
      const name = await this.make(wanted, cwd, on);
      if (beside) this.layout.splitFocus(name, beside);
      else this.layout.show(name);
    } catch (e) {
      notice(/** @type {Error} */ (e).message);
    } finally {
      this.making = false;
    }
  }

  /**
   * make makes a terminal and returns its NAME. Where its directory is gone it begins at home.
   * @param {string} wanted A NAME; "": the first that is free.
   * @param {string} cwd A URI; "": home.
   * @param {string} on The host; "": this one.
   */
  async make(wanted, cwd, on) {
    for (let i = 1; ; i++) {
      const name = wanted || `${on && on + '/'}web-${i}`;
      if (!wanted && this.info(name)) continue;
      try {
        await this.connection.request('createTerminal', { channel: terminalURI(name),
          claim: { kind: 'client', clientId: this.connection.clientId }, ...(cwd && { cwd }) });
        return name;
      } catch (e) {
        const taken = e instanceof RPCError && e.code === terminalExists && !wanted;
        const gone = cwd && /^cannot start in /.test(/** @type {Error} */ (e).message);
        if (!taken && !gone) throw e;
        if (gone) [cwd, i] = ['', i - 1];
      }
    }
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
      case '?': return keyHelp();
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
   * @param {string[]} moved
   * @param {string} target
   * @param {import('./drag.js').Side} side
   */
  place(moved, target, side) { this.layout.place(moved, target, side); }

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

  /**
   * answer types the answer to a question, if the program still asks that; "": it shows the terminal.
   * @param {string} name
   * @param {string} question
   * @param {string} text
   */
  async answer(name, question, text) {
    this.layout.show(name);
    const view = this.panes?.panes.get(name)?.view;
    if (!text || !view) return;
    await view.untilShown();
    if (!await view.keyboard.here()) return;
    if (view.meta.question !== question || view.meta.waiting !== 'input') return notice('It does not ask that any more: nothing was typed.');
    view.keyboard.send(text + '\r');
  }

  /** @param {string} name */
  focus(name) { this.layout.focusOn(name); }

  /** @param {string} name */
  close(name) {
    const keyboard = this.panes?.panes.get(name)?.view.keyboard;
    if (settings.values.release) void keyboard?.handBack(true);
    this.layout.close(name);
  }

  /**
   * split shows a new terminal beside another one. Alt-click in the list puts others there.
   * @param {string} name
   * @param {'h' | 'v'} dir
   */
  split(name, dir) {
    this.layout.focusOn(name);
    void this.create(dir);
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

  /** @param {boolean} on */
  showCommands(on) { settings.set({ commands: on }); }
}

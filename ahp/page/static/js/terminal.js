// One visible terminal: what the host tells of it, its screen and its keyboard.

import { copyFromProgram } from './clipboard.js';
import { readPicture } from './history.js';
import { Keyboard } from './keyboard.js';
import { Pictures } from './pictures.js';
import { applyTerminal, awayOf, holderOf, nameOfHolder, sameClaim, terminalState } from './reducers.js';
import { Screen } from './screen.js';
import { small } from './small.js';
import { utf8Length } from './wire.js';

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {import('./connection.js').Envelope} Envelope
 * @typedef {import('./connection.js').Follower} Follower
 * @typedef {import('./reducers.js').TerminalState} TerminalState
 */

/** How long after a key what the program copies gets into the clipboard, in milliseconds. */
const copyTime = 5000;
/** How long a size must stay before the program is told. */
const settle = 150;
const emptyState = terminalState({ claim: { kind: 'client', clientId: '' } }).state;

/**
 * TerminalView dispatches "state" when the terminal's state has changed, "notice" (a CustomEvent
 * with a text) when the person should know something, "retract" when such a text has become untrue,
 * and "find" when they want to search.
 * @implements {Follower}
 */
export class TerminalView extends EventTarget {
  /** @type {TerminalState} */
  state = emptyState;
  /** There is no such terminal. */
  missing = false;
  known = false; // there is one, or has been
  ended = ''; // who has ended this page's view of it, and that they have
  shown = false; // the first snapshot is there
  resizeTimer = 0;
  unshown = 0; // bytes of output that the host has sent and that are not drawn yet

  /**
   * @param {Connection} connection
   * @param {string} name
   * @param {{debug: boolean}} options
   */
  constructor(connection, name, { debug }) {
    super();
    this.connection = connection;
    this.name = name;
    this.uri = connection.uriOf(name);
    this.screen = new Screen({ name, debug });
    this.element = this.screen.element;
    this.search = this.screen.search;
    this.keyboard = new Keyboard(this);
    new Pictures(this.screen, (id) => readPicture(connection, this.uri, id));
    this.screen.addEventListener('fit', () => this.askSoon());
    this.listed = this.known = !!this.info;
    this.look = () => this.lookAtList();
    connection.addEventListener('list', this.look);
    connection.follow(this.uri, this);
  }

  open() { this.screen.open(); }

  dispose() {
    this.connection.removeEventListener('list', this.look);
    this.connection.unfollow(this.uri);
    clearTimeout(this.resizeTimer);
    this.keyboard.dispose();
    this.screen.dispose();
    this.acknowledge(this.unshown); // nobody will see it, and the host need not wait
  }

  focus() { this.screen.focus(); }

  /** untilShown waits for what the host tells of the terminal first. */
  async untilShown() {
    while (!this.shown) await this.once('state');
  }

  /** untilDrawn waits until all that the host has told is drawn; at once if there is no terminal. */
  async untilDrawn() {
    while (!this.shown && !this.missing) await this.once('state');
    await new Promise((resolve) => this.screen.write('', () => resolve(undefined)));
  }

  /** @param {string} event */
  once(event) { return new Promise((resolve) => this.addEventListener(event, resolve, { once: true })); }

  /** Whether what is typed here reaches the program. */
  get holds() { return this.keyboard.holds; }

  /** Whether the first key takes the keyboard: nobody else would lose it. */
  get unused() { return this.keyboard.unused; }

  /** The terminal's entry in the list of all. */
  get info() { return this.connection.terminals.find((t) => t.resource === this.uri); }

  /** What the list tells of it beyond AHP. */
  get meta() { return this.info?._meta?.termhost ?? {}; }

  /** That the terminal's host is silent, and since when; "": it is not. */
  get away() { return awayOf(this.info); }

  /** Who has the keyboard, for people. */
  get holder() { return this.holds ? 'you' : holderOf(this.state.claim, this.info); }

  /** What to tell people of a terminal that is missing. */
  get absence() {
    if (this.known) return `There is no terminal ${this.name} any more.`;
    const make = this.connection.maker ? ', or make it: New terminal' : '';
    return `There is no terminal ${this.name}. Choose one in the list${make}.`;
  }

  // What the host tells.

  /** @param {any} snapshot */
  snapshot(snapshot) {
    const { state, text } = terminalState(snapshot);
    this.state = state;
    this.missing = false;
    this.known = true;
    this.ended = '';
    this.shown = true;
    this.screen.reset(state.cols, state.rows, text);
    this.changed();
  }

  /** @param {Envelope} e */
  action(e) {
    const a = e.action, before = this.state.claim;
    applyTerminal(this.state, a);
    switch (a.type) {
      case 'terminal/data':
        this.write(a.data);
        return;
      case 'terminal/input': return;
      case 'terminal/cleared': this.screen.clear(); break;
      case 'terminal/commandFinished': this.keyboard.predictions.told(); break;
      case 'terminal/resized': this.screen.resize(a.cols, a.rows); break;
      case 'terminal/claimed':
        // Whoever is brought up to date is told the claim again.
        if (!sameClaim(before, this.state.claim)) this.keyboard.claimed(before, e.origin?.clientId === this.connection.clientId);
        this.askSoon();
        break;
    }
    this.changed();
  }

  /** @param {string} data What the program copies, in base64. */
  copied(data) {
    if (!this.holds || Date.now() - this.keyboard.lastKey > copyTime) return;
    void copyFromProgram(data).then((text) => text && this.notice(text));
  }

  /**
   * asked comes when others ask for the keyboard, which is here, than before.
   * @param {string[]} asks All who do, the first one first.
   * @param {string} [by] Who has just asked.
   */
  asked(asks, by) {
    this.keyboard.askedBy(asks, by);
    this.changed();
  }

  /**
   * wants comes when agents want to type other things than before.
   * @param {import('./asks.js').Ask[]} asks
   */
  wants(asks) {
    this.state.asks = asks;
    this.changed();
  }

  /**
   * trustOver comes when a person's yes to all that an agent types has ended.
   * @param {string} agent
   * @param {string} reason
   */
  trustOver(agent, reason) {
    this.notice(`The yes to all of ${agent} is over: ${reason}`);
  }

  /** @param {string} data */
  write(data) {
    const bytes = utf8Length(data);
    this.unshown += bytes;
    this.screen.write(data, () => this.acknowledge(Math.min(bytes, this.unshown)));
  }

  /** @param {number} bytes */
  acknowledge(bytes) {
    this.unshown -= bytes;
    this.connection.acknowledge(bytes);
  }

  /** @param {string} reason */
  end(reason) {
    this.ended = reason;
    this.changed();
  }

  /** lookAtList sees that the terminal has gone, or that there is one of its name again. */
  lookAtList() {
    const was = this.listed;
    this.listed = !!this.info;
    this.known ||= this.listed;
    if (was && !this.listed) this.gone();
    else if (!was && this.listed && this.missing) this.connection.follow(this.uri, this);
  }

  gone() {
    this.missing = true;
    this.changed();
  }

  changed() { this.dispatchEvent(new Event('state')); }

  /** @param {string} text */
  notice(text) { this.dispatchEvent(new CustomEvent('notice', { detail: text })); }

  /** @param {string} text A notice that is not true any more. */
  retract(text) { this.dispatchEvent(new CustomEvent('retract', { detail: text })); }

  /**
   * tellHolder says who has the keyboard now, in the words that ssh has. The name comes with the next
   * list of terminals.
   */
  tellHolder() {
    this.connection.addEventListener('list', () => this.notice(`${nameOfHolder(this.state.claim, this.info)} has the keyboard`),
      { once: true });
  }

  /**
   * askSoon gives the program the pane's size once it stays. Only the holder may, and on a small screen
   * nothing is resized that the person has not asked for.
   */
  askSoon() {
    clearTimeout(this.resizeTimer);
    if (this.holds && this.shown && !small()) {
      this.resizeTimer = window.setTimeout(() => this.ask(), settle);
    }
  }

  ask() {
    const cells = this.screen.cells();
    if (!cells || !this.holds) return;
    if (cells.cols === this.state.cols && cells.rows === this.state.rows) return;
    this.connection.dispatch(this.uri, { type: 'terminal/resized', ...cells }).catch(() => {});
  }
}

// The prefix Ctrl-\ and the keys behind it, as while attached with ssh.

export const prefixKey = '\x1c';
/** How long the prefix may stand alone before its keys are shown. */
const helpAfter = 500;
/** The keys behind the prefix, and what each does. */
export const prefixKeys = [
  ['c', 'take the keyboard'], ['r', 'give it to whoever asks, or back'], ['a', 'ask for the keyboard'],
  ['g', 'guard: agents type after your yes, or no longer'], ['d', 'close the view'], ['l', 'pick a terminal'],
  ['n', 'the one that wants you'], ['b', 'what you decide about, the buttons and commands'], ['an arrow', 'the pane there'],
  ['Tab', 'the last one'], ['+', 'a new one'],
  ['Ctrl-\\', 'send Ctrl-\\'], ['?', 'all keys'], ['Escape', 'nothing'],
];

/** @type {Record<string, import('./drag.js').Side>} What arrow keys send. */
const sides = { '\x1b[A': 'top', '\x1b[B': 'bottom', '\x1b[C': 'right', '\x1b[D': 'left' };

/**
 * @typedef {{send(data: string): void, take(): Promise<void>, handBack(): Promise<void>,
 *   ask(): Promise<void>, guard(): Promise<void>, command(key: string): void, hint(on: boolean): void,
 *   ownPrefix: string}} Target hint shows the keys behind the prefix, or hides them; ownPrefix is what
 *   Ctrl-\ sends to the program
 */

export class Prefix {
  pending = false;
  timer = 0;

  /** @param {Target} target */
  constructor(target) { this.target = target; }

  /** @param {string} data */
  typed(data) {
    if (!this.pending) {
      if (data !== prefixKey) return this.target.send(data);
      this.pending = true;
      this.timer = window.setTimeout(() => this.target.hint(true), helpAfter);
      return;
    }
    this.cancel();
    const side = sides[data.replace('\x1bO', '\x1b[')];
    if (side) return this.target.command(side);
    switch (data) {
      case 'c': return void this.target.take();
      case 'r': return void this.target.handBack();
      case 'a': return void this.target.ask();
      case 'g': return void this.target.guard();
      case 'd': case 'l': case 'n': case '\t': case '+': case 'b': case '?': return this.target.command(data);
      case prefixKey: return this.target.send(this.target.ownPrefix);
      case '\x1b': return; // as one leaves a menu; sent on, the prefix would end most programs
    }
    this.target.send(this.target.ownPrefix + data);
  }

  /** cancel forgets the prefix, as when the person goes elsewhere. */
  cancel() {
    this.pending = false;
    clearTimeout(this.timer);
    this.target.hint(false);
  }
}

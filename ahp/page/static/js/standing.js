// How a terminal stands, in one mark: whether it needs the person, runs something, or how what it ran
// has ended. A mark's shape says it as well as its colour.

import { outcome } from './format.js';
import { awayOf, exitOf } from './reducers.js';

/**
 * @typedef {import('./reducers.js').TerminalInfo} TerminalInfo
 * @typedef {{kind: 'needs' | 'running' | 'idle' | 'ok' | 'failed' | 'signal' | 'lost', mark: string,
 *   words: string}} Standing
 */

/** @type {Record<string, string>} */
const waitingWords = {
  input: 'waiting for input', secret: 'asks for a secret', approval: 'asks for approval',
};

/** @type {Record<string, string>} What has happened since the person looked at a terminal. */
const missedWords = {
  bell: 'rang the bell', notice: 'notifies you', done: 'is done', command: 'a command has ended', failed: 'a command has failed',
  keyboard: 'the keyboard is asked for',
};

/**
 * need says what a person has to do; "": nothing.
 * @param {TerminalInfo} t
 */
export function need(t) {
  const m = t._meta?.termhost;
  if (exitOf(t).exited || m?.unreachable) return '';
  if (t.wants === 'keyboard') return missedWords.keyboard;
  return m?.waiting ? waitingWords[m.waiting] ?? m.waiting : missedWords[t.wants ?? ''] ?? '';
}

/**
 * aside says what is odd about a terminal that runs, and nobody has to do anything about; "": nothing.
 * @param {TerminalInfo} t
 */
export function aside(t) {
  const m = t._meta?.termhost;
  if (m?.unreachable) return awayOf(t);
  if (exitOf(t).exited) return '';
  if (m?.awaySince) return `owner away since ${new Date(m.awaySince).toLocaleTimeString()}`;
  if (m?.stopped) return m.stoppedBy ? `stopped by Ctrl-S (${m.stoppedBy})` : 'stopped by Ctrl-S';
  if (m?.progress) return progressWords(m.progress);
  return m?.quiet ? 'quiet' : '';
}

/**
 * progressWords says how far a program is, as it says itself.
 * @param {{state: string, percent: number}} p
 */
function progressWords(p) {
  const far = `${p.percent}%`;
  switch (p.state) {
    case 'indeterminate': return 'in progress';
    case 'error': return p.percent ? `failed at ${far}` : 'failed';
    case 'paused': return p.percent ? `paused at ${far}` : 'paused';
  }
  return far;
}

/**
 * @param {TerminalInfo} t
 * @returns {Standing}
 */
export function standing(t) {
  const { exited, exitCode } = exitOf(t);
  if (awayOf(t)) return { kind: 'lost', mark: '?', words: awayOf(t) };
  if (exited) {
    const o = outcome(exitCode);
    return { ...o, words: `exited ${o.words}` };
  }
  const words = need(t);
  if (words) return { kind: 'needs', mark: '!', words };
  const last = t._meta?.termhost?.last;
  if (!last) return { kind: 'running', mark: '\u25cf', words: 'running' };
  if (last.running) return { kind: 'running', mark: '\u25cf', words: 'running a command' };
  return outcome(last.exitCode);
}

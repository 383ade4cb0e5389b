// The state of the channels, as AHP's actions change it. Pure functions on plain objects. What a
// terminal prints is drawn by its view; what is kept here is the latest output of each command.

import { oneLine } from './format.js';
import { clearScreen } from './wire.js';

/**
 * @typedef {{kind: string, clientId?: string, session?: string}} Claim
 * @typedef {{waiting?: string, waitingSince?: string, question?: string, status?: {state: string, text?: string, since: string}, labels?: Record<string, string>, cwd?: string, guarded?: boolean, recording?: boolean,
 *   by?: string, name?: string, host?: string, unreachable?: string, quiet?: boolean, stopped?: boolean, stoppedBy?: string, awaySince?: string,
 *   progress?: {state: string, percent: number},
 *   holder?: string, lender?: string, program?: string, last?: Last}} Meta
 * @typedef {{running?: boolean, exitCode?: number, commandLine?: string, timestamp?: number}} Last
 * @typedef {{resource: string, title: string, claim: Claim, executionTarget?: string,
 *   lifecycle?: {status: string, exitCode?: number}, exitCode?: number,
 *   _meta?: {termhost?: Meta}, wants?: string, says?: string, closedWindow?: boolean, person?: string, group?: string}} TerminalInfo
 * @typedef {{id: string, line: string, at: number, done: boolean, exitCode?: number,
 *   durationMs?: number, by?: string, cwd?: string, output: string[], size: number, whole: boolean}} Command
 *   whole: the page has been told all its output
 * @typedef {{title: string, cwd: string, cols: number, rows: number, claim: Claim, exited: boolean,
 *   exitCode?: number, client: boolean, isPty: boolean, detection: boolean, commands: Command[],
 *   cleared: boolean, redrawn: Command[] | null, meta: Meta, asks: import('./asks.js').Ask[]}} TerminalState
 *   cleared: commands are forgotten, or told anew, with what comes next
 *   redrawn: the commands, while they are told anew; else null
 */

/** How much of a command's output is kept, in UTF-16 units: its end. */
export const keptOutput = 256 << 10;

/**
 * nameOf returns the NAME of a channel, with its host if that is another one: HOST/NAME.
 * @param {string} uri
 */
export function nameOf(uri) {
  const on = /^ahp-terminal:\/\/([^/]+)\//.exec(uri)?.[1];
  return (on ? on + '/' : '') + uri.slice(uri.lastIndexOf('/') + 1);
}

/**
 * hostOf returns the host of a name; "": it is this one.
 * @param {string} name
 */
export function hostOf(name) { return name.slice(0, Math.max(0, name.indexOf('/'))); }

/**
 * ownName returns a name without its host.
 * @param {string} name
 */
export function ownName(name) { return name.slice(name.indexOf('/') + 1); }

/**
 * calledOf returns the NAME of a terminal, which may have another one than its channel, with its host if
 * that is another one.
 * @param {TerminalInfo} t
 */
export function calledOf(t) {
  const name = nameOf(t.resource), on = hostOf(name);
  return (on && on === t._meta?.termhost?.host ? on + '/' : '') + (oneLine(t._meta?.termhost?.name ?? '', 64) || ownName(name));
}

/**
 * awayOf says that a terminal's host is silent, and since when; "": it is not.
 * @param {TerminalInfo} [t]
 */
export function awayOf(t) {
  const { unreachable = '', host = '' } = t?._meta?.termhost ?? {};
  return unreachable && `${host} is unreachable since ${new Date(unreachable).toLocaleTimeString()}`;
}

/** What a NAME may be: ahp.ValidName has the same rule; and a host's name before it: fleet.CheckName. */
const namePattern = '(?:[a-z0-9\\-]{1,64}/)?(?!\\.{1,2}$)[A-Za-z0-9._\\-]{1,64}';

/** @param {string} text */
export function isName(text) { return new RegExp(`^${namePattern}$`).test(text); }

/** @param {TerminalInfo} info */
export function exitOf(info) {
  if (info.lifecycle) {
    return { exited: info.lifecycle.status === 'exited', exitCode: info.lifecycle.exitCode };
  }
  return { exited: info.exitCode !== undefined, exitCode: info.exitCode };
}

/** How much of a name is shown, in UTF-16 units: all of what the host makes of a person and a client. */
const longestName = 240;

/**
 * @param {Claim} a
 * @param {Claim} b
 */
export function sameClaim(a, b) { return a.kind === b.kind && a.clientId === b.clientId && a.session === b.session; }

/**
 * holderOf returns who has the keyboard, for people, as the host names it: what a client calls
 * itself is never shown by itself, for it could be anybody's name.
 * @param {Claim} claim
 * @param {TerminalInfo} [info] The terminal's entry in the list, which has the name.
 */
export function holderOf(claim, info) {
  if (info?.closedWindow) return 'you, in a closed window';
  if (info?.person && claim.clientId === info.person) return 'you (ssh)';
  return nameOfHolder(claim, info);
}

/**
 * nameOfHolder is holderOf by name, also for what is the person's own.
 * @param {Claim} claim
 * @param {TerminalInfo} [info]
 */
export function nameOfHolder(claim, info) {
  if (info?.closedWindow) return 'you, in a closed window';
  const told = oneLine(info?._meta?.termhost?.holder ?? '', longestName);
  return told || (claim.kind === 'client' ? 'another client' : 'an agent');
}

/**
 * @param {Command} c
 * @param {string} text
 */
function keep(c, text) {
  c.output.push(text);
  c.size += text.length;
  while (c.output.length > 1 && c.size - c.output[0].length >= keptOutput) {
    c.size -= /** @type {string} */ (c.output.shift()).length;
  }
}

/**
 * pathOf returns the path of a file's URI.
 * @param {string} [uri]
 */
export function pathOf(uri) {
  try {
    return uri ? decodeURIComponent(new URL(uri).pathname) : '';
  } catch {
    return '';
  }
}

/**
 * terminalState makes the state from a snapshot's, and the text that draws the screen.
 * @param {any} snapshot
 * @returns {{state: TerminalState, text: string}}
 */
export function terminalState(snapshot) {
  const { exited, exitCode } = exitOf(snapshot);
  /** @type {Command[]} */
  const commands = [];
  let text = '';
  for (const part of snapshot.content ?? []) {
    if (part.type === 'command') {
      text += part.output;
      const c = command(part);
      Object.assign(c, { done: part.isComplete, exitCode: part.exitCode, durationMs: part.durationMs, whole: false });
      keep(c, part.output);
      commands.push(c);
    } else {
      text += part.value;
    }
  }
  return {
    text,
    state: {
      title: snapshot.title ?? '', cwd: snapshot.cwd ?? '', cols: snapshot.cols ?? 80,
      rows: snapshot.rows ?? 24, claim: snapshot.claim, exited, exitCode,
      client: snapshot.executionTarget === 'client', isPty: snapshot.isPty !== false,
      detection: !!snapshot.supportsCommandDetection, commands, cleared: false, redrawn: null, meta: snapshot._meta?.termhost ?? {},
      asks: snapshot._meta?.termhost?.asks ?? [],
    },
  };
}

/**
 * command makes a command from an action or a part of the content.
 * @param {any} a
 * @returns {Command}
 */
function command(a) {
  const { by, cwd } = a._meta?.termhost ?? {};
  return { id: a.commandId, line: a.commandLine, at: a.timestamp, done: false, by, cwd: pathOf(cwd),
    output: [], size: 0, whole: true };
}

/**
 * applyTerminal changes a terminal's state.
 * @param {TerminalState} s
 * @param {any} a
 */
export function applyTerminal(s, a) {
  if (s.cleared && !['terminal/commandDetectionAvailable', 'terminal/resized'].includes(a.type)) {
    s.cleared = false;
    if (a.data?.startsWith(clearScreen)) s.redrawn = [];
    else s.commands = [];
  }
  switch (a.type) {
    case 'terminal/data': {
      if (s.redrawn) break; // it is the screen
      const last = s.commands.at(-1);
      if (last && !last.done) keep(last, a.data);
      break;
    }
    case 'terminal/resized': s.cols = a.cols; s.rows = a.rows; break;
    case 'terminal/claimed': s.claim = a.claim; break;
    case 'terminal/titleChanged':
      s.title = a.title;
      if (s.redrawn) s.commands = s.redrawn; // the title comes behind them
      s.redrawn = null;
      break;
    case 'terminal/cwdChanged': s.cwd = a.cwd; break;
    case 'terminal/exited': s.exited = true; s.exitCode = a.exitCode; break;
    case 'terminal/cleared': s.cleared = true; break;
    case 'terminal/commandDetectionAvailable': s.detection = true; break;
    case 'terminal/commandExecuted':
      s.detection = true;
      if (s.redrawn) s.redrawn.push(s.commands.find((c) => c.id === a.commandId) ?? { ...command(a), whole: false });
      else s.commands.push(command(a));
      break;
    case 'terminal/commandFinished': {
      const c = (s.redrawn ?? s.commands).findLast((c) => c.id === a.commandId);
      if (c) Object.assign(c, { done: true, exitCode: a.exitCode, durationMs: a.durationMs });
      break;
    }
  }
}

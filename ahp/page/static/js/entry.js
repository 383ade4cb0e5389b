// What an entry of the list says of a terminal: how it stands, and for how long; what it asks, or
// what runs or has run there, and where; and who types.

import { oneLine, programTitle, shortPath } from './format.js';
import { awayOf, calledOf, exitOf, holderOf, ownName, pathOf } from './reducers.js';
import { aside, need, standing } from './standing.js';

/** @type {Record<string, string>} What a terminal waits for, beside for how long. */
const waits = { input: 'waits', secret: 'secret', approval: 'approval' };

/** @type {Record<string, string>} What has happened, where there is little room. */
const happened = { command: 'has ended', failed: 'has failed', keyboard: 'keyboard asked' };

/**
 * Entry is what is said. The times are when what runs has begun to, and since when it waits, in
 * milliseconds by the host's clock; 0: it does not. Of a host that is silent, waits is since when.
 * @typedef {{kind: string, mark: string, state: string, guarded: boolean, holder: string, short: string,
 *   waits: number, what: string, code: boolean, away: boolean, runs: number, where: string, title: string, group: string, tip: string}} Entry
 */

/**
 * entryOf says what an entry shows.
 * @param {import('./reducers.js').TerminalInfo} t
 * @param {string} own This page's clientId.
 * @param {string} home
 * @returns {Entry}
 */
export function entryOf(t, own, home) {
  const s = standing(t), meta = t._meta?.termhost ?? {}, { exited } = exitOf(t), title = programTitle(t.title, ownName(calledOf(t)));
  const mine = t.claim.kind === 'client' && t.claim.clientId === own, waiting = need(t) && meta.waiting;
  const runs = s.kind === 'running' ? 'running' : `running, last command ${s.words}`;
  const last = meta.last, line = oneLine(last?.commandLine ?? meta.program ?? ''), cwd = pathOf(meta.cwd);
  const question = oneLine((waiting ? meta.question : '') || (exited ? '' : t.says || meta.status?.text) || '');
  const path = shortPath(cwd, home);
  const away = awayOf(t);
  const holder = exited ? '' : mine ? 'keyboard: you' : `keyboard: ${holderOf(t.claim, t)}`;
  return {
    kind: s.kind, mark: s.mark,
    state: s.kind === 'needs' || exited || away ? s.words : [runs, aside(t)].filter(Boolean).join(', '),
    guarded: !exited && !!meta.guarded,
    holder,
    short: away ? 'unreachable' : exited ? s.words.replace('exited ', '') : waiting ? waits[waiting] ?? waiting :
      s.kind === 'needs' ? happened[t.wants ?? ''] ?? s.words : aside(t).split(' since ')[0] || (mine ? 'yours' : t.closedWindow ? 'closed window' : holderOf(t.claim, t)),
    waits: away ? Date.parse(meta.unreachable ?? '') : waiting ? Date.parse(meta.waitingSince ?? '') || 0 : 0,
    what: question || line, code: !question,
    away: !!away,
    runs: !exited && !away && !question && last?.running ? last.timestamp ?? 0 : 0,
    where: [exited || cwd === home ? '' : path, labelsOf(meta.labels)].filter(Boolean).join(' '),
    title: line && repeats(t.title, line, path) ? '' : title,
    group: oneLine(t.group ?? '', 64),
    tip: [line, oneLine(cwd, 4096), labelsOf(meta.labels), holder, title].filter(Boolean).join('\n'),
  };
}

/**
 * labelsOf returns a terminal's labels for people.
 * @param {Record<string, string>} [labels]
 */
export function labelsOf(labels) { return Object.entries(labels ?? {}).map(([k, v]) => `${k}=${v}`).join(' '); }

/**
 * repeats tells whether a title is what shells make of it by themselves: the command, or the directory.
 * @param {string} title
 * @param {string} line
 * @param {string} path
 */
function repeats(title, line, path) {
  const text = oneLine(title);
  return !!path && text.endsWith(path) || line.startsWith(text) || text.startsWith(line);
}

// Times and other values as people read them.

/** @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return ms < 100 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  const s = ms / 1000;
  if (s < 60) return s < 10 ? `${s.toFixed(1)} s` : `${Math.round(s)} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return `${m} m ${String(Math.round(s % 60) % 60).padStart(2, '0')} s`;
  return `${Math.floor(m / 60)} h ${String(m % 60).padStart(2, '0')} m`;
}

/**
 * age says how long something has lasted that goes on.
 * @param {number} ms
 */
export function age(ms) {
  const s = Math.max(0, Math.floor(ms / 1000)), m = Math.floor(s / 60), hours = Math.floor(m / 60);
  if (m < 1) return `${s} s`;
  return hours < 1 ? `${m} m` : hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/**
 * shortPath shows a directory as a prompt does, from the home directory on, and leaves out its middle
 * where it is long.
 * @param {string} path
 * @param {string} home
 * @param {number} [most] In characters.
 */
export function shortPath(path, home, most = 36) {
  const inside = home.length > 1 && (path === home || path.startsWith(home + '/'));
  const text = oneLine(inside ? '~' + path.slice(home.length) : path, 4096);
  if (text.length <= most) return text;
  const begin = text.slice(0, most / 3), end = text.slice(1 - most + begin.length);
  const cut = begin.lastIndexOf('/') + 1, on = end.indexOf('/'); // between whole names, if there are such
  return (cut > 1 ? begin.slice(0, cut) : begin) + '\u2026' + (on >= 0 && on < end.length - 1 ? end.slice(on) : end);
}

/** @param {number} n */
export function bytes(n) {
  if (n < 1024) return `${n} bytes`;
  const unit = n < 1 << 20 ? 1024 : 1 << 20, value = n / unit;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit === 1024 ? 'KiB' : 'MiB'}`;
}

/**
 * outcome says how a command or a program has ended: a mark, which is not told by its colour alone,
 * and words.
 * @param {number | undefined} code
 * @returns {{kind: 'ok' | 'failed' | 'signal' | 'lost', mark: string, words: string}}
 */
export function outcome(code) {
  if (code === undefined) return { kind: 'lost', mark: '?', words: 'unknown' };
  if (code < 0) return { kind: 'lost', mark: '?', words: 'lost' };
  if (code === 0) return { kind: 'ok', mark: '\u2713', words: 'ok 0' };
  if (code > 128 && code < 193) {
    return { kind: 'signal', mark: '\u26a1\ufe0e', words: signals[code - 128] ?? `signal ${code - 128}` };
  }
  return { kind: 'failed', mark: '\u2715', words: `failed ${code}` };
}

/** @type {Record<number, string>} */
const signals = {
  1: 'SIGHUP', 2: 'SIGINT', 3: 'SIGQUIT', 4: 'SIGILL', 6: 'SIGABRT', 8: 'SIGFPE', 9: 'SIGKILL',
  11: 'SIGSEGV', 13: 'SIGPIPE', 14: 'SIGALRM', 15: 'SIGTERM',
};

/**
 * Control characters, and those that nobody sees or that turn the direction of what follows them (UAX
 * #9); not the joiners, of which clusters are made.
 */
const unseen = /[\0-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]+/g;

/**
 * oneLine shows text of others on one line: without control characters, and cut.
 * @param {string} text
 * @param {number} [most]
 */
export function oneLine(text, most = 200) {
  const clean = text.replace(unseen, ' ').trim();
  return clean.length > most ? clean.slice(0, most - 1) + '\u2026' : clean;
}

/**
 * programTitle shows the title that a program has given its terminal as what it is: never as the
 * host's own words. "" if it says no more than the terminal's name.
 * @param {string | undefined} title
 * @param {string} name
 */
export function programTitle(title, name) {
  const text = oneLine(title ?? '', 120);
  return text && text !== name ? `title: ${text}` : '';
}

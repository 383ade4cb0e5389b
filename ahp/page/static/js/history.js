// What the host keeps of a terminal, which may be far more than the page has: its log, and
// recordings. The requests are described in ahp/rpc.

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {{channel: string} | {recording: string}} Source
 * @typedef {{at: number, items: number}} Place Behind the first items of the items at a position.
 * @typedef {{at: number, nth?: number, time: string, data?: string, cols?: number, rows?: number,
 *   kind: 'data' | 'resized' | 'command' | 'finished' | 'gap' | 'exited', line?: string, by?: string,
 *   exitCode?: number, durationMs?: number, missing?: number, reason?: string}} Item
 * @typedef {Place & {time: string, cols: number, rows: number, data: string}} Moment
 * @typedef {{recording: string, uri: string, startedAt: string, endedAt?: string, bytes: number}} Recording
 */

/** How many requests are sent at a time: the host answers four. */
const atOnce = 4;
/** @type {WeakMap<Connection, {running: number, waiting: (() => void)[]}>} */
const queues = new WeakMap();

/**
 * ask sends a request when its turn comes.
 * @param {Connection} connection
 * @param {string} method
 * @param {any} params
 */
async function ask(connection, method, params) {
  const q = queues.get(connection) ?? { running: 0, waiting: [] };
  queues.set(connection, q);
  if (q.running >= atOnce) await new Promise((resolve) => q.waiting.push(() => resolve(null)));
  else q.running++;
  try {
    return await connection.request(`termhost/${method}`, params);
  } finally {
    const next = q.waiting.shift();
    if (next) next();
    else q.running--;
  }
}

/**
 * readPicture returns a picture that a program has drawn.
 * @param {Connection} connection
 * @param {string} channel
 * @param {string} picture
 * @returns {Promise<import('./pictures.js').PictureFile>}
 */
export function readPicture(connection, channel, picture) { return ask(connection, 'picture', { channel, picture }); }

/**
 * readHeld returns what agents want to type into a terminal, and what has become of an ask.
 * @param {Connection} connection
 * @param {string} channel
 * @param {string} [wanted] The ask.
 * @returns {Promise<{asks: import('./asks.js').Ask[], outcome?: {ask: string, how: string, at: string}}>}
 */
export function readHeld(connection, channel, wanted = '') { return ask(connection, 'held', { channel, ask: wanted }); }

/** @param {Item} item */
export function behind(item) { return { at: item.at, items: (item.nth ?? 0) + 1 }; }

/** @param {Item} item */
export function before(item) { return { at: item.at, items: item.nth ?? 0 }; }

/**
 * isBefore reports whether an item comes before a place.
 * @param {Item} item
 * @param {Place} place
 */
export function isBefore(item, place) {
  return item.at < place.at || item.at === place.at && (item.nth ?? 0) < place.items;
}

/**
 * readOutline returns what a history has, without the output itself.
 * @param {Connection} connection
 * @param {Source} source
 * @returns {Promise<Item[]>}
 */
export async function readOutline(connection, source) {
  /** @type {Item[]} */
  const items = [];
  for (let from = 0; ;) {
    const page = await ask(connection, 'history', { ...source, from, outline: true });
    for (const item of page.items) items.push(item);
    if (page.next === undefined) return items;
    from = page.next;
  }
}

/**
 * readItems returns some of what comes behind a place, and where more of it begins; null: there is no
 * more.
 * @param {Connection} connection
 * @param {Source} source
 * @param {Place} place
 * @returns {Promise<{items: Item[], next: Place | null}>}
 */
export async function readItems(connection, source, place) {
  const page = await ask(connection, 'history', { ...source, from: place.at, maxBytes: 256 << 10 });
  return {
    items: page.items.filter((/** @type {Item} */ item) => !isBefore(item, place)),
    next: page.next === undefined ? null : { at: page.next, items: 0 },
  };
}

/**
 * readScreen returns what was shown at a place.
 * @param {Connection} connection
 * @param {Source} source
 * @param {Place} place
 * @param {number} scrollback How many lines before the screen.
 * @returns {Promise<Moment>}
 */
export function readScreen(connection, source, place, scrollback) {
  return ask(connection, 'screen', { ...source, ...place, scrollback });
}

/**
 * readLines returns lines of all that was shown up to a place; without one, until now.
 * @param {Connection} connection
 * @param {Source} source
 * @param {Place | null} place
 * @param {number} from
 * @param {number} count
 * @returns {Promise<Place & {total: number, truncated: boolean, lines: string[]}>}
 */
export function readLines(connection, source, place, from, count) {
  return ask(connection, 'lines', { ...source, ...place, from, count });
}

/**
 * literal returns a regular expression (RE2) for a text.
 * @param {string} text
 */
export function literal(text) { return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'); }

/**
 * findLines returns the numbers of the lines that have some text, and how often each has it. Capitals
 * count if there are any.
 * @param {Connection} connection
 * @param {Source} source
 * @param {Place | null} place
 * @param {string} text
 * @returns {Promise<Place & {total: number, truncated: boolean, lines: number[], counts: number[], more: boolean}>}
 */
export async function findLines(connection, source, place, text) {
  const found = await ask(connection, 'find', { ...source, ...place,
    pattern: literal(text), ignoreCase: text === text.toLowerCase() });
  return { ...found, lines: found.lines ?? [], counts: found.counts ?? [] };
}

/**
 * placesOf returns where a line has some text, without overlaps. Capitals count if there are any.
 * @param {string} line
 * @param {string} text
 */
export function placesOf(line, text) {
  const whole = text === text.toLowerCase() ? line.toLowerCase() : line;
  /** @type {number[]} */
  const places = [];
  for (let at = whole.indexOf(text); at >= 0; at = whole.indexOf(text, at + text.length)) places.push(at);
  return places;
}

/**
 * readRecordings returns the recordings of a terminal, the oldest first.
 * @param {Connection} connection
 * @param {string} uri
 * @returns {Promise<Recording[]>}
 */
export async function readRecordings(connection, uri) {
  const { recordings } = await ask(connection, 'recordings', {});
  return recordings.filter((/** @type {Recording} */ r) => r.uri === uri);
}

/**
 * readLog returns what `log` or `cast` prints.
 * @param {Connection} connection
 * @param {Source} source
 * @param {'text' | 'raw' | 'cast'} form
 */
export async function readLog(connection, source, form) {
  const { data } = await ask(connection, 'log', { ...source, form });
  return Uint8Array.from(atob(data ?? ''), (c) => c.charCodeAt(0));
}

/**
 * readOutput returns what a command has printed.
 * @param {Connection} connection
 * @param {string} channel
 * @param {string} command Its commandId.
 */
export async function readOutput(connection, channel, command) {
  const { data } = await ask(connection, 'log', { channel, form: 'raw', command });
  return new TextDecoder().decode(Uint8Array.from(atob(data ?? ''), (c) => c.charCodeAt(0)));
}

/**
 * save has the browser keep a file.
 * @param {string} name
 * @param {Uint8Array} bytes
 */
export function save(name, bytes) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([/** @type {BlobPart} */ (bytes)]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

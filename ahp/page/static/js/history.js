// What the host keeps of a terminal, which may be far more than the page has.

/**
 * @typedef {import('./connection.js').Connection} Connection
 * @typedef {{at: number, time: string, kind: 'data' | 'resized' | 'command' | 'finished' | 'gap' | 'exited',
 *   data?: string, cols?: number, rows?: number, line?: string, by?: string, exitCode?: number,
 *   durationMs?: number, reason?: string}} Item
 */

/**
 * readHistory returns all that a terminal's log holds.
 * @param {Connection} connection
 * @param {string} uri
 * @returns {Promise<Item[]>}
 */
export async function readHistory(connection, uri) {
  /** @type {Item[]} */
  const items = [];
  for (let from = 0; ;) {
    const page = await connection.request('termhost/history', { channel: uri, from });
    items.push(...page.items);
    if (page.next === undefined) return items;
    from = page.next;
  }
}

/**
 * readLog returns what `log` prints.
 * @param {Connection} connection
 * @param {string} uri
 * @param {'text' | 'raw'} form
 */
export async function readLog(connection, uri, form) {
  const { data } = await connection.request('termhost/log', { channel: uri, form });
  return Uint8Array.from(atob(data ?? ''), (c) => c.charCodeAt(0));
}

/**
 * cast makes an asciicast (version 2, docs.asciinema.org/manual/asciicast/v2) of what a log holds.
 * @param {Item[]} items
 */
export function cast(items) {
  const began = Date.parse(items[0]?.time ?? '');
  const lines = [JSON.stringify({ version: 2, width: items[0]?.cols ?? 80, height: items[0]?.rows ?? 24,
    timestamp: Math.floor(began / 1000) })];
  for (const item of items.slice(1)) {
    const at = Math.max(0, Date.parse(item.time) - began) / 1000;
    if (item.kind === 'data') lines.push(JSON.stringify([at, 'o', item.data ?? '']));
    if (item.kind === 'resized') lines.push(JSON.stringify([at, 'r', `${item.cols}x${item.rows}`]));
    if (item.kind === 'command') lines.push(JSON.stringify([at, 'm', item.line ?? '']));
  }
  return new TextEncoder().encode(lines.join('\n') + '\n');
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

// What is typed, on its way to the host: in order, complete, and no faster than the host takes it.

import { Lost } from './rpc.js';

/** How much may be on its way without an answer, in UTF-16 units. */
const inFlight = 4096;
/** How much goes in one message. */
const pieceSize = 16384;
/** How long to wait when the program does not read and the host's queue is full. */
const fullPause = 50;

/**
 * bytes are text for Input.type that goes to the program byte by byte, as a report of the mouse may
 * have to. A byte beyond ASCII is a surrogate without its pair, which no text has.
 * @param {string} data Characters up to U+00FF.
 */
export function bytes(data) {
  return data.replace(/[\x80-\xff]/g, (c) => String.fromCharCode(0xdc00 + c.charCodeAt(0)));
}

/**
 * text is what is typed, without surrogates that would be taken for bytes.
 * @param {string} data
 */
export function text(data) { return data.replace(lone, '\ufffd'); }

const lone = /[\ud800-\udfff]/gu; // of a pair neither matches

/**
 * inputAction makes the action that types a piece.
 * @param {string} data
 */
export function inputAction(data) {
  if (data.search(lone) < 0) return { type: 'terminal/input', data };
  const latin1 = data.replace(/[\ud800-\udbff][\udc00-\udfff]|[^\0-\x7f]/g, (c) => {
    const code = c.charCodeAt(0);
    if (c.length === 1 && code >= 0xdc80 && code <= 0xdcff) return String.fromCharCode(code - 0xdc00);
    return String.fromCharCode(...new TextEncoder().encode(c));
  });
  return { type: 'terminal/input', data: latin1, _meta: { termhost: { bytes: true } } };
}

export class Input {
  buffer = '';
  flying = 0;
  drops = 0;
  held = false; // waiting for the host's queue to drain

  /**
   * @param {(data: string) => Promise<void>} send
   * @param {(reason: string, unsent: number, maybe: boolean) => void} refused maybe: some may have arrived.
   */
  constructor(send, refused) {
    this.send = send;
    this.refused = refused;
  }

  /** @param {string} data */
  type(data) {
    this.buffer += data;
    this.pump();
  }

  /**
   * drop forgets what the host has not taken, and returns how much that was. What is on its way
   * counts: it will be refused, and nothing more is said about it.
   */
  drop() {
    const n = this.buffer.length + this.flying;
    this.buffer = '';
    this.drops++;
    return n;
  }

  pump() {
    while (this.buffer && !this.held && (this.flying === 0 || this.flying + this.buffer.length <= inFlight)) {
      let n = Math.min(pieceSize, this.buffer.length);
      const last = this.buffer.charCodeAt(n - 1);
      if (n < this.buffer.length && last >= 0xd800 && last < 0xdc00) n--; // not between surrogates
      const piece = this.buffer.slice(0, n);
      this.buffer = this.buffer.slice(n);
      void this.fly(piece);
    }
  }

  /** @param {string} piece */
  async fly(piece) {
    const { drops } = this;
    this.flying += piece.length;
    try {
      await this.send(piece);
    } catch (e) {
      const reason = /** @type {Error} */ (e).message;
      if (drops !== this.drops) {
        // It has been told.
      } else if (/queue is full/.test(reason)) {
        this.held = true;
        this.buffer = piece + this.buffer;
        setTimeout(() => { this.held = false; this.pump(); }, fullPause);
      } else {
        const unsent = this.drop();
        this.refused(reason, unsent, e instanceof Lost);
      }
    } finally {
      this.flying -= piece.length;
    }
    this.pump();
  }
}

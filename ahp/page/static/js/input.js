// What is typed, on its way to the host: in order, complete, and no faster than the host takes it.
// It all arrives, or from the first lost key on nothing does: never does a program get the end of a
// line without its middle. While there is no connection what is typed waits. When it is back, the
// host says what it has taken, and the rest is sent. Where that cannot be known, or the host has
// refused something, the rest is kept, together with what is typed then, for the person to decide.

import { Lost } from './rpc.js';
import { nameOf } from './reducers.js';

/** How much may be on its way without an answer, in UTF-16 units. */
const inFlight = 4096;
/** How much goes in one message. */
const pieceSize = 16384;
/** How long to wait when the program does not read and the host's queue is full, in milliseconds. */
const fullPause = 50;
/** How long something may have waited for the host that is sent without asking, in milliseconds. */
const fresh = 15_000;
/** What begins and ends a paste in brackets. */
const pasteBegins = '\x1b[200~', pasteEnds = '\x1b[201~';

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
 * @param {number} after The clientSeq of the piece before it; 0: nobody knows.
 */
function inputAction(data, after) {
  const follows = after ? { after } : {};
  if (data.search(lone) < 0) {
    return { type: 'terminal/input', data, ...(after && { _meta: { termhost: follows } }) };
  }
  const latin1 = data.replace(/[\ud800-\udbff][\udc00-\udfff]|[^\0-\x7f]/g, (c) => {
    const code = c.charCodeAt(0);
    if (c.length === 1 && code >= 0xdc80 && code <= 0xdcff) return String.fromCharCode(code - 0xdc00);
    return String.fromCharCode(...new TextEncoder().encode(c));
  });
  return { type: 'terminal/input', data: latin1, _meta: { termhost: { bytes: true, ...follows } } };
}

/**
 * Input is what is typed into one terminal. It dispatches "change" when something waits, or does no
 * longer.
 */
export class Input extends EventTarget {
  buffer = ''; // what is not sent
  /** @type {{seq: number, data: string}[]} What the host has not answered yet, in order. */
  flight = [];
  last = 0; // the clientSeq of the last piece that the host has taken; 0: nobody knows
  stopped = ''; // why the person has to decide about what is not sent; "": they do not
  maybe = 0; // how much of that, from its beginning on, may have arrived
  since = 0; // since when the host has answered nothing of what was typed; 0: all is answered
  full = false; // waiting for the host's queue to drain

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {string} uri
   */
  constructor(connection, uri) {
    super();
    this.connection = connection;
    this.uri = uri;
  }

  /** Whether what is typed now is sent now. */
  get open() { return this.connection.status === 'ready' && !this.stopped; }

  /** What has not arrived, as far as the page knows. */
  get unsent() { return this.flight.map((f) => f.data).join('') + this.buffer; }

  /** Whether something waits that the person should see. */
  get waits() { return !this.open && this.unsent !== ''; }

  /** @param {string} data */
  type(data) {
    if (!data) return;
    this.since ||= performance.now();
    this.buffer += data;
    this.pump();
    if (!this.open) this.changed();
  }

  changed() { this.dispatchEvent(new Event('change')); }

  /**
   * stop keeps what has not arrived for the person to decide about.
   * @param {string} reason
   */
  stop(reason) {
    this.buffer = this.unsent;
    this.flight = [];
    this.last = 0;
    if (this.buffer) this.stopped = reason;
    else this.since = 0;
    this.changed();
  }

  /** go sends what was kept. */
  go() {
    this.stopped = '';
    this.maybe = 0;
    this.since &&= performance.now();
    this.pump();
    this.changed();
  }

  /**
   * discard forgets what has not arrived.
   * @param {boolean} holds Whether something may be typed. A paste that has begun is ended then.
   */
  discard(holds) {
    const rest = this.unsent, end = rest.indexOf(pasteEnds), begin = rest.indexOf(pasteBegins);
    this.buffer = holds && end >= 0 && (begin < 0 || end < begin) ? pasteEnds : '';
    this.flight = [];
    if (!this.buffer) this.since = 0;
    this.go();
  }

  /**
   * resolve comes when the connection is back.
   * @param {number | undefined} taken The clientSeq of the last piece that the host has taken, or an
   *   earlier one; undefined: it does not know.
   */
  resolve(taken) {
    if (this.stopped) return;
    const { length } = this.flight.map((f) => f.data).join('');
    if (taken === undefined) {
      this.maybe = length;
      return this.stop('The host was started anew');
    }
    this.flight = this.flight.filter((f) => f.seq > taken);
    this.last = taken;
    this.buffer = this.unsent;
    this.flight = [];
    if (!this.buffer) this.since = 0;
    else if (performance.now() - this.since > fresh) this.stop('The connection was away for some time');
  }

  pump() {
    const flying = this.flight.reduce((n, f) => n + f.data.length, 0);
    if (!this.buffer || !this.open || this.full || flying && flying + this.buffer.length > inFlight) return;
    let n = Math.min(pieceSize, this.buffer.length);
    const last = this.buffer.charCodeAt(n - 1);
    if (n < this.buffer.length && last >= 0xd800 && last < 0xdc00) n--; // not between surrogates
    const piece = { seq: 0, data: this.buffer.slice(0, n) };
    this.buffer = this.buffer.slice(n);
    const action = inputAction(piece.data, this.flight.at(-1)?.seq ?? this.last);
    piece.seq = this.connection.post(this.uri, action, (error) => this.answered(piece, error));
    this.flight.push(piece);
    this.pump();
  }

  /**
   * @param {{seq: number, data: string}} piece
   * @param {Error | null} error
   */
  answered(piece, error) {
    const at = this.flight.indexOf(piece);
    if (at < 0) return; // it was refused with one before it
    if (error instanceof Lost) return this.changed(); // see resolve
    if (!error) {
      this.flight.splice(0, at + 1);
      this.last = piece.seq;
      this.since = this.unsent ? performance.now() : 0;
      return this.pump();
    }
    if (!/queue is full/.test(error.message)) return this.stop(error.message);
    // What was sent behind it is refused, too: it does not follow.
    this.buffer = this.flight.splice(at).map((f) => f.data).join('') + this.buffer;
    this.full = true;
    setTimeout(() => { this.full = false; this.pump(); }, fullPause);
  }
}

/** Inputs are those of all terminals, whether they are shown or not. */
export class Inputs {
  /** @type {Map<string, Input>} By URI. */
  all = new Map();

  /** @param {import('./connection.js').Connection} connection */
  constructor(connection) {
    this.connection = connection;
    connection.addEventListener('status', () => {
      for (const i of this.all.values()) {
        i.pump();
        i.changed();
      }
    });
    connection.addEventListener('list', () => this.forget());
  }

  /** @param {string} uri */
  of(uri) {
    const input = this.all.get(uri) ?? new Input(this.connection, uri);
    this.all.set(uri, input);
    return input;
  }

  /**
   * resolve comes when the connection is back.
   * @param {Record<string, number> | undefined} typed What the host has taken last, by URI; undefined:
   *   it does not know.
   * @param {string[]} [missing] The URIs of terminals that are gone.
   */
  resolve(typed, missing = []) {
    for (const [uri, input] of this.all) {
      input.resolve(typed && (typed[uri] ?? 0));
      if (missing.includes(uri)) input.stop(`There is no terminal ${this.connection.called(nameOf(uri))} any more`);
    }
  }

  /** forget comes when terminals may be gone: another one of the name knows nothing of what this one took. */
  forget() {
    const { terminals } = this.connection;
    for (const [uri, input] of this.all) {
      if (!terminals.some((t) => t.resource === uri)) input.last = 0;
    }
  }
}

// How the page gets in. A ticket is exchanged for a token that works only together with a key pair
// of this browser's, whose private half nobody can read, not even this page. The token stands in
// sessionStorage, which is this tab's, and the key in IndexedDB.

import { get, put } from './keystore.js';

/**
 * Refused is an error that trying again does not help against. Its text says what is wrong, and its
 * advice what to do.
 */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {string} advice
   * @param {string} [title]
   */
  constructor(message, advice, title = 'You are not let in') {
    super(message);
    this.advice = advice;
    this.title = title;
  }
}

export const newTicket = 'Open a new one: run termhost page --local on the host\u2019s own machine, ' +
  'or termhost page DEST on another one.';

const ended = 'Your session has ended';
const sources = 'See http.allowed_hosts and http.allowed_origins in the host\u2019s configuration. A ' +
  'proxy in between has to pass on the Host header.';

const stored = 'termhost.session';
/** How long the host may take to answer, in milliseconds: as long as for a ping. */
const patience = 10_000;

/** @typedef {{token: string, name: string, role: string, expires: string}} Credentials */

/** @param {Uint8Array | ArrayBuffer} bytes */
function base64url(bytes) {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };

/** Session is this tab's right to connect. */
export class Session {
  /**
   * @param {Credentials} credentials
   * @param {CryptoKeyPair} keys
   */
  constructor(credentials, keys) {
    this.credentials = credentials;
    this.keys = keys;
  }

  /**
   * enter takes a ticket, which is then spent.
   * @param {string} ticket
   */
  static async enter(ticket) {
    const keys = await browserKeys();
    const point = await crypto.subtle.exportKey('raw', keys.publicKey);
    /** @type {Credentials} */
    const credentials = await ask('page/enter', { ticket, key: base64url(point) });
    sessionStorage.setItem(stored, JSON.stringify(credentials));
    return new Session(credentials, keys);
  }

  /** restore returns the session that this tab has; null: none. */
  static async restore() {
    const text = sessionStorage.getItem(stored);
    if (!text) return null;
    const credentials = /** @type {Credentials} */ (JSON.parse(text));
    if (Date.parse(credentials.expires) <= Date.now()) {
      throw new Refused('It has lasted as long as a session may.', newTicket, ended);
    }
    return new Session(credentials, await browserKeys());
  }

  static forget() { sessionStorage.removeItem(stored); }

  /**
   * prove asks the host for a challenge and signs it.
   * @returns {Promise<{challenge: string, signature: string, ahp: string}>}
   */
  async prove() {
    const { challenge, ahp } = await ask('page/challenge');
    const text = `termhost page\n${location.origin}\n${challenge}`;
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' },
      this.keys.privateKey, new TextEncoder().encode(text));
    return { challenge, signature: base64url(signature), ahp };
  }

  /**
   * connect opens a WebSocket.
   * @returns {Promise<WebSocket | null>} null: it was refused, for which browsers give no reason
   */
  async connect() {
    const { challenge, signature, ahp } = await this.prove();
    const url = new URL(ahp, document.baseURI);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.hash = '';
    const socket = new WebSocket(url, ['termhost.ahp', `termhost.token.${this.credentials.token}`,
      `termhost.proof.${challenge}.${signature}`]);
    const timer = setTimeout(() => socket.close(), patience);
    return new Promise((resolve) => {
      socket.onopen = () => { clearTimeout(timer); resolve(socket); };
      socket.onclose = () => { clearTimeout(timer); resolve(null); };
    });
  }

  /**
   * diagnose fails with the reason for which a WebSocket was refused. It returns if the host would
   * take one, so that something in between does not let it through.
   */
  async diagnose() {
    const { challenge, signature } = await this.prove();
    try {
      await ask('page/check', { token: this.credentials.token, challenge, signature });
    } catch (e) {
      if (e instanceof Refused) {
        Session.forget();
        e.title = ended;
      }
      throw e;
    }
  }
}

/**
 * ask sends the host a request and returns the JSON that it answers with. Errors are Refused, or tell
 * why nothing was answered now.
 * @param {string} path
 * @param {any} [body] Undefined: a GET without one.
 * @returns {Promise<any>}
 */
async function ask(path, body) {
  const answer = await fetch(path, {
    credentials: 'omit', cache: 'no-store', redirect: 'manual', signal: AbortSignal.timeout(patience),
    ...(body && { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const type = answer.headers.get('Content-Type') ?? '';
  if (answer.ok && type.startsWith('application/json')) return answer.json();
  const text = (await answer.text()).trim(), { status } = answer;
  const plain = text && type.startsWith('text/plain');
  if (plain && (status === 429 || status === 503)) throw new Error(capital(text));
  if (plain && [400, 401, 403].includes(status)) {
    throw new Refused(capital(text) + (/[.!?]$/.test(text) ? '' : '.'), status === 403 ? sources : newTicket);
  }
  throw new Error(status >= 500 ? `A proxy in between does not reach the host (status ${status})` :
    'Something else answers instead of the host: reload this page, and log in if it wants that');
}

/** @param {string} text */
function capital(text) { return text.charAt(0).toUpperCase() + text.slice(1); }

/** browserKeys returns this browser's key pair for this page, which it makes when there is none. */
async function browserKeys() {
  if (!globalThis.crypto?.subtle) {
    throw new Refused('This browser gives keys to secure pages only.',
      'Reach the host over https, or as 127.0.0.1 through a forwarded port: termhost page DEST.');
  }
  const old = await get('keys');
  if (old) return /** @type {CryptoKeyPair} */ (old);
  const keys = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  await put('keys', keys);
  return keys;
}

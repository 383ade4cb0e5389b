// How the page gets in. A ticket is exchanged for a token that works only together with a key pair
// of this browser's, whose private half nobody can read, not even this page. The token stands in
// sessionStorage, which is this tab's, and the key in IndexedDB.

import { get, put } from './keystore.js';

/**
 * Refused is an error whose text says what is wrong, and whose advice says what to do.
 */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {string} advice
   */
  constructor(message, advice) {
    super(message);
    this.advice = advice;
  }
}

export const newTicket = 'Open a new one: run termhost page --local on the host\u2019s own machine, ' +
  'or termhost page DEST on another one.';

const stored = 'termhost.session';

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
    const answer = await fetch('page/enter', {
      method: 'POST', credentials: 'omit', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ticket, key: base64url(point) }),
    });
    if (!answer.ok) throw new Refused(sentence(await answer.text()), newTicket);
    const credentials = /** @type {Credentials} */ (await answer.json());
    sessionStorage.setItem(stored, JSON.stringify(credentials));
    return new Session(credentials, keys);
  }

  /** restore returns the session that this tab has; null: none. */
  static async restore() {
    const text = sessionStorage.getItem(stored);
    if (!text) return null;
    const credentials = /** @type {Credentials} */ (JSON.parse(text));
    if (Date.parse(credentials.expires) <= Date.now()) return null;
    return new Session(credentials, await browserKeys());
  }

  static forget() { sessionStorage.removeItem(stored); }

  /**
   * prove asks the host for a challenge and signs it.
   * @returns {Promise<{challenge: string, signature: string, ahp: string}>}
   */
  async prove() {
    const answer = await fetch('page/challenge', { credentials: 'omit', cache: 'no-store' });
    if (!answer.ok) {
      throw new Refused(sentence(await answer.text()), 'See http.allowed_hosts and allowed_origins ' +
        'in the host\u2019s configuration.');
    }
    const { challenge, ahp } = await answer.json();
    const text = `termhost page\n${location.origin}\n${challenge}`;
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' },
      this.keys.privateKey, new TextEncoder().encode(text));
    return { challenge, signature: base64url(signature), ahp };
  }

  /** connect opens a WebSocket. It may still be refused. */
  async connect() {
    const { challenge, signature, ahp } = await this.prove();
    const url = new URL(ahp, document.baseURI);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.hash = '';
    return new WebSocket(url, ['termhost.ahp', `termhost.token.${this.credentials.token}`,
      `termhost.proof.${challenge}.${signature}`]);
  }

  /**
   * diagnose returns why a WebSocket was refused, which browsers do not tell; null: the host takes
   * this session, so that something in between does not let WebSockets through.
   * @returns {Promise<Refused | null>}
   */
  async diagnose() {
    const { challenge, signature } = await this.prove();
    const answer = await fetch('page/check', {
      method: 'POST', credentials: 'omit', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token: this.credentials.token, challenge, signature }),
    });
    if (answer.ok) return null;
    return new Refused(sentence(await answer.text()), newTicket);
  }
}

/** @param {string} text */
function sentence(text) {
  const t = text.trim();
  return t.charAt(0).toUpperCase() + t.slice(1) + (/[.!?]$/.test(t) ? '' : '.');
}

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

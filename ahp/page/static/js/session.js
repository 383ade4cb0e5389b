// How the page gets in. A ticket is exchanged for a token that works only together with a key pair
// of this browser's, whose private half nobody can read, not even this page. The token stands in
// sessionStorage, which is this tab's, and the key in IndexedDB. The host proves itself, too, with a
// key of which the ticket came with a hash: package page says how.

import { get, put } from './keystore.js';
import { sshName, tellHost } from './sshline.js';

/**
 * Refused is an error that trying again does not help against. Its text says what is wrong. A new
 * ticket may help, for which the person types a line; advice says what else does.
 */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {{title?: string, advice?: string, line?: string}} [more] line: another one than pageLine
   */
  constructor(message, { title = 'You are not let in', advice = '', line } = {}) {
    super(message);
    this.title = title;
    this.advice = advice;
    this.line = line;
  }
}

/**
 * whatElse says what helps besides a new ticket.
 * @param {string} text A ticket or a name. Only another invitation opens a guest's page.
 */
function whatElse(text) {
  if (text.startsWith(guestTicket) || text.startsWith(guestName)) return { advice: 'Ask whoever has invited you for another link.', line: '' };
  return text.startsWith(linkTicket) || text.startsWith(linkName) ? { advice: 'The next notification brings a link that opens.' } : {};
}

/** What tickets and names of guests begin with, and those of links in notifications. */
const guestTicket = 'invite-', guestName = 'guest:', linkTicket = 'link-', linkName = 'page-link-';

const ended = 'Your session has ended';
const sources = 'See http.allowed_hosts and http.allowed_origins in the host\u2019s configuration. A ' +
  'proxy in between has to pass on the Host header.';

const lost = 'the connection was lost';
const strange = 'Something else answers instead of the host: reload this page, and log in if it wants that';

const stored = 'termhost.session';
/** How long the host may take to answer, in milliseconds: as long as for a ping. */
const patience = 10_000;

const unknown = 'This is not the host that this page was opened for: another program answers at its ' +
  'address, or the host has been set up anew. Nothing is sent to it, and nothing shown of it. See ' +
  'whether the host runs. If it was set up anew, open a new page: type ssh HOST page';

/**
 * Credentials are what a ticket is exchanged for; host is the host's public key, and machine what its
 * machine is called, once it has told.
 * @typedef {{token: string, name: string, role: string, expires: string, host: string, machine?: string}} Credentials
 */

/**
 * Proof is the page's half of a handshake. The host signs the nonce together with the challenge.
 * @typedef {{challenge: string, signature: string, nonce: string}} Proof
 */
/** @typedef {{challenge: string, ahp: string}} Challenge What to sign, and where to connect to with that. */

/** @param {Uint8Array | ArrayBuffer} bytes */
function base64url(bytes) {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** @param {string} text Bad text gives no bytes. */
function bytesOf(text) {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }, signing = { name: 'ECDSA', hash: 'SHA-256' };
/** How many bytes of the hash of the host's key a ticket ends with. */
const markBytes = 15;

/** Session is this tab's right to connect. */
export class Session {
  /**
   * @param {Credentials} credentials
   * @param {CryptoKeyPair} keys
   * @param {Challenge | null} next A challenge that is not used yet.
   */
  constructor(credentials, keys, next) {
    this.credentials = credentials;
    this.keys = keys;
    this.next = next;
  }

  /** How long the way to the host and back takes at most, in milliseconds, as last seen. */
  trip = 0;

  /**
   * enter takes a ticket, which is then spent.
   * @param {string} ticket It ends with what the host's key is known by.
   */
  static async enter(ticket) {
    const keys = await browserKeys();
    const point = await crypto.subtle.exportKey('raw', keys.publicKey);
    /** @type {Credentials & Challenge} */
    const { challenge, ahp, ...credentials } = await ask('page/enter', { ticket, key: base64url(point) }).catch((e) => {
      if (!(e instanceof Told) || e.status === 429 || e.status === 503) throw e;
      throw new Refused(e.message, e.status === 403 ? { advice: sources } : whatElse(ticket));
    });
    const hash = await crypto.subtle.digest('SHA-256', bytesOf(credentials.host));
    if (!ticket.endsWith(base64url(hash.slice(0, markBytes)))) throw new Refused(unknown + '.');
    sessionStorage.setItem(stored, JSON.stringify(credentials));
    return new Session(credentials, keys, { challenge, ahp });
  }

  /** What this tab is logged in as; "": it is not. */
  static get name() { return String(JSON.parse(sessionStorage.getItem(stored) ?? '{}').name ?? ''); }

  /** Whether this tab has a session, with a host that proves itself. */
  static isStored() { return !!JSON.parse(sessionStorage.getItem(stored) ?? '{}').host; }

  /** restore returns the session that this tab has. */
  static async restore() {
    const credentials = /** @type {Credentials} */ (JSON.parse(sessionStorage.getItem(stored) ?? '{}'));
    tellHost(credentials.machine ?? '', credentials.role);
    if (!(Date.parse(credentials.expires) > Date.now())) {
      throw new Refused('It has lasted as long as a session may.', { title: ended, ...whatElse(credentials.name) });
    }
    const next = newChallenge().catch(() => null); // it is asked for again
    return new Session(credentials, await browserKeys(), await next);
  }

  /** Whether this page sees only some terminals and makes none: a guest's, or a notification's. */
  get bounded() {
    const { name } = this.credentials;
    return name.startsWith(guestName) || name.startsWith(linkName);
  }

  /** @param {string} machine What the host's machine is called. */
  remember(machine) {
    this.credentials.machine = machine;
    sessionStorage.setItem(stored, JSON.stringify(this.credentials));
    tellHost(machine, this.credentials.role);
  }

  static forget() { sessionStorage.removeItem(stored); }

  /**
   * prove signs a challenge of the host's.
   * @returns {Promise<Proof & {ahp: string}>}
   */
  async prove() {
    const { challenge, ahp } = this.next ?? await newChallenge();
    this.next = null;
    if (typeof challenge !== 'string' || typeof ahp !== 'string' ||
      !/^[\w-]+$/.test(challenge) || !/^[\w.-][\w./-]*$/.test(ahp)) throw new Error(strange);
    const text = `termhost page\n${location.origin}\n${challenge}`;
    const signature = await crypto.subtle.sign(signing, this.keys.privateKey, new TextEncoder().encode(text));
    return { challenge, ahp, signature: base64url(signature),
      nonce: base64url(crypto.getRandomValues(new Uint8Array(16))) };
  }

  /**
   * verify fails unless the host has said so, to this page and now.
   * @param {Proof} proof
   * @param {number} status
   * @param {string} reason
   * @param {string} signature
   */
  async verify({ challenge, nonce }, status, reason, signature) {
    const text = `termhost host\n${location.origin}\n${challenge}\n${nonce}\n${status} ${reason}`;
    const key = await crypto.subtle.importKey('raw', bytesOf(this.credentials.host), algorithm, false, ['verify']);
    if (!await crypto.subtle.verify(signing, key, bytesOf(String(signature)), new TextEncoder().encode(text))) {
      throw new Error(unknown);
    }
  }

  /**
   * connect opens a WebSocket to the host, which has proven itself.
   * @returns {Promise<WebSocket | null>} null: it was refused, for which browsers give no reason
   */
  async connect() {
    const proof = await this.prove();
    const url = new URL(proof.ahp, document.baseURI);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.hash = '';
    const begun = performance.now();
    const socket = new WebSocket(url, ['termhost.ahp', `termhost.token.${this.credentials.token}`,
      `termhost.proof.${proof.challenge}.${proof.signature}`, `termhost.nonce.${proof.nonce}`]);
    const timer = setTimeout(() => socket.close(), patience);
    try {
      socket.addEventListener('open', () => { this.trip = (performance.now() - begun) / 2; }, { once: true });
      const first = await firstMessage(socket);
      if (first === null) return null;
      await this.verify(proof, 101, '', signatureIn(first));
      if (socket.readyState !== WebSocket.OPEN) throw new Error(lost);
      return socket;
    } catch (e) {
      socket.close();
      throw e;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * diagnose fails with the reason for which a WebSocket was refused. It returns if the host would
   * take one, so that something in between does not let it through.
   */
  async diagnose() {
    const proof = await this.prove();
    const answer = await ask('page/check', { token: this.credentials.token, ...proof }).catch(unproven);
    await this.verify(proof, answer.status, answer.reason, answer.proof);
    if (answer.status === 401) {
      Session.forget();
      throw new Refused(sentence(answer.reason), { title: ended, ...whatElse(this.credentials.name) });
    }
    if (answer.status !== 200) throw new Error(capital(answer.reason));
  }
}

/**
 * firstMessage returns what comes first on a WebSocket; null: it was refused.
 * @param {WebSocket} socket
 * @returns {Promise<string | null>}
 */
function firstMessage(socket) {
  return new Promise((resolve, reject) => {
    let open = false;
    socket.onopen = () => { open = true; };
    socket.onmessage = (e) => resolve(String(e.data));
    socket.onclose = () => open ? reject(new Error(lost)) : resolve(null);
  });
}

/**
 * signatureIn returns the signature of a notification termhost/proof; "": it is something else.
 * @param {string} message
 */
function signatureIn(message) {
  try {
    const { method, params } = JSON.parse(message);
    return method === 'termhost/proof' ? String(params.signature) : '';
  } catch {
    return '';
  }
}

/** Told is a refusal in the words of whoever has answered, which need not be the host. */
class Told extends Error {
  /**
   * @param {string} text
   * @param {number} status
   */
  constructor(text, status) {
    super(sentence(text));
    this.status = status;
  }
}

/**
 * unproven fails without the words of a stranger.
 * @param {Error} e
 * @returns {never}
 */
function unproven(e) {
  if (!(e instanceof Told)) throw e;
  throw new Error(`What answers at the host\u2019s address does not let this page in (status ${e.status})`);
}

/**
 * ask sends the host a request and returns the JSON that it answers with. Errors are Told, or say why
 * nothing was answered now.
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
  if (answer.ok && type.startsWith('application/json')) {
    return answer.json().then((v) => Object(v), () => { throw new Error(strange); });
  }
  const text = (await answer.text()).trim(), { status } = answer;
  if (text && type.startsWith('text/plain') && [400, 401, 403, 429, 503].includes(status)) {
    throw new Told(text, status);
  }
  throw new Error(status >= 500 ? `A proxy in between does not reach the host (status ${status})` : strange);
}

/** @returns {Promise<Challenge>} */
function newChallenge() { return ask('page/challenge').catch(unproven); }

/** @param {string} text */
function capital(text) { return text.charAt(0).toUpperCase() + text.slice(1); }

/** @param {string} text */
function sentence(text) { return capital(text) + (/[.!?]$/.test(text) ? '' : '.'); }

/** browserKeys returns this browser's key pair for this page, which it makes when there is none. */
async function browserKeys() {
  if (!globalThis.crypto?.subtle) {
    throw new Refused('This browser gives keys to secure pages only.', {
      advice: 'Reach the host over https, or as 127.0.0.1 through a forwarded port.',
      line: `ssh -L 7722:ahp:80 ${sshName()} page --stay`,
    });
  }
  const old = await get('keys');
  if (old) return /** @type {CryptoKeyPair} */ (old);
  const keys = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  await put('keys', keys);
  return keys;
}

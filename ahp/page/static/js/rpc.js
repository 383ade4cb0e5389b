// JSON-RPC over one WebSocket.

import { nameOf } from './reducers.js';
import { terminalURI } from './wire.js';

/** The code of an error that says that there is no such channel. */
const noChannel = -32008;

/** RPCError is an error that the host has answered with, in words for people. */
export class RPCError extends Error {
  /** @param {{code: number, message: string, data?: any}} e */
  constructor(e) {
    const name = nameOf(String(e.data?.channel));
    const terminal = e.code === noChannel && e.data?.channel === terminalURI(name);
    super(terminal ? `There is no terminal ${name}.` : e.message);
    this.code = e.code;
    this.data = e.data;
  }
}

/** Lost says that the connection has ended. */
export class Lost extends Error {}

// In milliseconds:
/** How long nothing may come before the connection is tried, and before it is given up. */
const tryAfter = 10_000, giveUpAfter = 30_000;
/** How long the host may say nothing before the person is told, once it has been asked for something. */
const stallAfter = 5000;
/** How long it may say nothing before it is tried: what it was asked may be for another host, which is silent. */
const doubtAfter = 2000;
const checkEvery = 1000;

export class RPC {
  /** @type {Map<number, {resolve: (v: any) => void, reject: (e: Error) => void}>} */
  waiting = new Map();
  next = 1;
  /** @type {(method: string, params: any) => void} */
  onnotification = () => {};
  /** @type {(reason: string) => void} Called once, when the connection has ended. */
  onclose = () => {};
  /** @type {(stalled: boolean) => void} Called when nothing gets through, and when something does again. */
  onstall = () => {};
  asked = 0; // when the first message was sent since something came that the host answers; 0: none was
  tried = false; // a ping was sent since something came
  stalled = false;

  /** @param {WebSocket} socket An open one. */
  constructor(socket) {
    this.socket = socket;
    this.heard = performance.now();
    socket.onmessage = (e) => this.receive(e.data);
    socket.onclose = (e) => this.end(e.reason);
    this.timer = setInterval(() => this.check(), checkEvery);
  }

  /**
   * @param {string} method
   * @param {any} params
   * @returns {Promise<any>}
   */
  request(method, params) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ jsonrpc: '2.0', id, method, params });
    });
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  notify(method, params) { this.send({ jsonrpc: '2.0', method, params }); }

  /** @param {any} message */
  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    if (message.id || message.method === 'dispatchAction') this.asked ||= performance.now();
  }

  /** @param {string} data */
  receive(data) {
    this.heard = performance.now();
    this.asked = 0;
    this.tried = false;
    this.stall(false);
    const m = JSON.parse(data);
    if (m.method) {
      this.onnotification(m.method, m.params);
      return;
    }
    const w = this.waiting.get(m.id);
    this.waiting.delete(m.id);
    if (m.error) w?.reject(new RPCError(m.error));
    else w?.resolve(m.result);
  }

  /** check tries a connection on which nothing was heard, and gives up one that is dead. */
  check() {
    const now = performance.now(), quiet = now - this.heard, waits = this.asked && now - this.asked;
    if (quiet > giveUpAfter) return this.end('the host does not answer');
    if (!this.tried && (waits > doubtAfter || quiet > tryAfter)) {
      this.tried = true;
      this.request('ping', { channel: 'ahp-root://' }).catch(() => {});
    }
    if (waits > stallAfter) this.stall(true);
  }

  /** @param {boolean} stalled */
  stall(stalled) {
    if (stalled === this.stalled) return;
    this.stalled = stalled;
    this.onstall(stalled);
  }

  /** @param {string} reason */
  end(reason) {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = 0;
    this.socket.onclose = this.socket.onmessage = null;
    this.socket.close();
    for (const w of this.waiting.values()) w.reject(new Lost(reason));
    this.waiting.clear();
    this.onclose(reason);
  }
}

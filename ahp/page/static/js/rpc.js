// JSON-RPC over one WebSocket.

/** RPCError is an error that the host has answered with. */
export class RPCError extends Error {
  /** @param {{code: number, message: string, data?: any}} e */
  constructor(e) {
    super(e.message);
    this.code = e.code;
    this.data = e.data;
  }
}

/** Lost says that the connection has ended. */
export class Lost extends Error {}

/** How long the host may take to answer a ping. */
const pingPatience = 10_000;
/** How often a quiet connection is tried. */
const pingEvery = 20_000;

export class RPC {
  /** @type {Map<number, {resolve: (v: any) => void, reject: (e: Error) => void}>} */
  waiting = new Map();
  next = 1;
  /** @type {(method: string, params: any) => void} */
  onnotification = () => {};
  /** @type {(reason: string) => void} Called once, when the connection has ended. */
  onclose = () => {};

  /** @param {WebSocket} socket An open one. */
  constructor(socket) {
    this.socket = socket;
    this.heard = performance.now();
    socket.onmessage = (e) => this.receive(e.data);
    socket.onclose = (e) => this.end(e.reason);
    this.timer = setInterval(() => this.check(), pingEvery / 2);
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
  }

  /** @param {string} data */
  receive(data) {
    this.heard = performance.now();
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
    const quiet = performance.now() - this.heard;
    if (quiet > pingEvery + pingPatience) this.end('the host does not answer');
    else if (quiet > pingEvery / 2) this.request('ping', { channel: 'ahp-root://' }).catch(() => {});
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

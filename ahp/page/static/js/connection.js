// The page's connection to the host, over as many WebSockets as it takes. It keeps the list of
// terminals and who follows which of them, and goes on where it was after a loss.

import { oneLine } from './format.js';
import { Inputs } from './input.js';
import { awayOf, calledOf, nameOf } from './reducers.js';
import { Lost, RPC, RPCError } from './rpc.js';
import { Refused } from './session.js';
import { ack, asked, asks, clipboard, fleetHosts, grouped, hostSilent, looking, picture, rootURI, screenFirst, terminalURI, trustOver, unsubscribed, utf8Length, wanting } from './wire.js';

/**
 * @typedef {import('./session.js').Session} Session
 * @typedef {import('./reducers.js').TerminalInfo} TerminalInfo
 * @typedef {{snapshot(state: any): void, action(envelope: Envelope): void,
 *   copied(data: string): void, asked(asks: string[], by?: string): void,
 *   wants(asks: import('./asks.js').Ask[]): void, trustOver(agent: string, reason: string): void,
 *   gone(): void, end(reason: string): void}} Follower
 * @typedef {{channel: string, action: any, serverSeq: number, rejectionReason?: string,
 *   origin?: {clientId: string, clientSeq: number}}} Envelope
 * @typedef {{host: string, self?: boolean, unreachable?: string}} Host
 * @typedef {'connecting' | 'ready' | 'lost' | 'refused' | 'replaced'} Status
 */

const versions = ['1.0.0', '0.9.0'];
/**
 * parts are how many lines before a terminal's screen, and commands, are wanted with it, by how long a
 * way there and back takes at most, in ms: what takes long may be carried slowly, too.
 */
const parts = [
  { within: 100, scrollback: 5000, commands: 200 },
  { within: 250, scrollback: 500, commands: 50 },
  { within: Infinity, scrollback: 50, commands: 20 },
];
const firstDelay = 250, longestDelay = 5000;
/** How long to wait before a host is asked again that is silent, though the list does not say so. */
const askAgain = 1000;

/**
 * Connection dispatches the events "status", when its status has changed or it stalls, "list", when
 * the list of terminals has changed, and "asked", when others ask for a keyboard that is here.
 */
export class Connection extends EventTarget {
  /** @type {Status} */
  status = 'connecting';
  /** @type {Session | null} null: the page has not got in yet. */
  session = null;
  clientId = '';
  /** @type {Error | null} Why it is refused, or was lost. */
  reason = null;
  /** @type {TerminalInfo[]} */
  terminals = [];
  listed = false; // terminals is what the host has told
  /** @type {RPC | null} */
  rpc = null;
  /** @type {Map<string, Follower>} By URI. */
  followers = new Map();
  joined = false; // the host takes subscriptions on this WebSocket
  lastSeen = 0;
  known = false; // whether the host has known this clientId
  clientSeq = Date.now() * 1000; // greater than any of this page before it was loaded anew
  /** @type {Map<number, {channel: string, answered: (error: Error | null) => void}>} By clientSeq: what is not answered. */
  dispatched = new Map();
  inputs = new Inputs(this);
  directory = '';
  host = ''; // what the host's machine is called
  /** @type {Host[]} Those of the fleet; none: the host is in none. */
  hosts = [];
  person = ''; // the clientId of the person's SSH sessions
  ahead = 0; // how much the host's clock is ahead of this one, in ms
  attempts = 0;
  unacknowledged = 0;
  acknowledgedAt = -Infinity; // when something was, last
  acknowledging = 0; // the timer that will
  /** @type {string[]} The URIs of the terminals that the person looks at. */
  lookedAt = [];
  /** @type {Map<string, string>} By URI: why terminals want the person. */
  wanted = new Map();
  /** @type {Map<string, string>} By URI: what their programs say of that. */
  says = new Map();
  /** @type {Map<string, string>} By URI: which terminals belong together. */
  groups = new Map();
  /** @type {Map<string, boolean>} By URI: the keyboards that nobody else would lose; true: a closed page of the person's had it. */
  unused = new Map();

  constructor() {
    super();
    this.wake = () => {};
    addEventListener('online', () => this.wake());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.wake(); });
  }

  /** now is the time by the host's clock, in ms since 1970. */
  now() { return Date.now() + this.ahead; }

  /** Whether the host has not answered for some seconds, though the connection has not ended. */
  get stalled() { return this.rpc?.stalled ?? false; }

  /**
   * @param {Status} status
   * @param {Error | null} [reason]
   */
  become(status, reason = null) {
    this.status = status;
    this.reason = reason;
    this.dispatchEvent(new Event('status'));
  }

  /** Whether the page may make terminals. */
  get maker() { return !!this.session && !this.observer && !this.session.bounded; }

  /** What is wanted with a terminal's screen. */
  get screenPart() {
    const trip = this.session?.trip ?? 0;
    const { scrollback, commands } = parts.find((p) => trip <= p.within) ?? parts[0];
    return { scrollback, commands };
  }

  /** What the page can do beyond AHP. */
  get abilities() {
    return { [ack.capability]: { window: ack.window, prompt: true }, [screenFirst]: this.screenPart,
      [clipboard]: {}, [asked]: {}, [asks]: {}, [picture]: {} };
  }

  /** Whether the page may only look. */
  get observer() { return this.session?.credentials.role === 'observer'; }

  /**
   * run connects, again and again, until it is refused or replaced.
   * @param {Session} session
   * @param {string} clientId
   */
  async run(session, clientId) {
    this.session = session;
    this.clientId = clientId;
    for (;;) {
      try {
        const { closed } = await this.open(session);
        this.attempts = 0;
        this.become('ready');
        const reason = await closed;
        if (/taken over/.test(reason)) return this.become('replaced');
        this.become('lost', new Error(reason || 'the connection was lost'));
      } catch (e) {
        const error = /** @type {Error} */ (e);
        if (error instanceof Refused) return this.become('refused', error);
        this.become('lost', error);
      } finally {
        this.rpc = null;
        this.joined = false;
        const lost = [...this.dispatched.values()];
        this.dispatched.clear();
        for (const { answered } of lost) answered(new Lost('the connection was lost'));
      }
      await this.pause();
    }
  }

  /** pause waits before the next attempt; less if there is reason to hope. */
  pause() {
    const delay = Math.min(longestDelay, firstDelay * 2 ** this.attempts++);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delay * (0.75 + Math.random() / 2));
      this.wake = () => { clearTimeout(timer); resolve(null); };
    });
  }

  /**
   * open connects once.
   * @param {Session} session
   * @returns {Promise<{closed: Promise<string>}>} When it is open, and later why it has ended.
   */
  async open(session) {
    const socket = await session.connect();
    if (!socket) {
      await session.diagnose();
      throw new Error('The host is there, but WebSockets do not get through: the proxy in between has ' +
        'to pass on the headers Upgrade and Connection');
    }
    const rpc = new RPC(socket);
    /** @type {Promise<string>} */
    const closed = new Promise((resolve) => { rpc.onclose = resolve; });
    rpc.onnotification = (method, params) => {
      if (method === 'action') this.receive(params);
      else if (method === wanting) {
        this.wanted = new Map(params.terminals.map((/** @type {{terminal: string, why: string}} */ t) => [t.terminal, t.why]));
        this.says = new Map(params.terminals.map((/** @type {{terminal: string, text?: string}} */ t) => [t.terminal, t.text ?? '']));
        this.unused = new Map((params.keyboards ?? []).map((/** @type {{terminal: string, window?: boolean}} */ k) => [k.terminal, !!k.window]));
        if (this.listed) this.list(this.terminals);
      } else if (method === grouped) {
        this.groups = new Map(Object.entries(params.groups));
        if (this.listed) this.list(this.terminals);
      } else if (method === fleetHosts) {
        this.hosts = params.hosts;
        if (this.listed) this.list(this.terminals);
      } else if (method === clipboard) this.followers.get(params.channel)?.copied(params.data);
      else if (method === asked) this.asked(params);
      else if (method === asks) this.followers.get(params.channel)?.wants(params.asks);
      else if (method === trustOver) this.followers.get(params.channel)?.trustOver(params.by, params.reason);
      else if (method === unsubscribed) this.ended(params);
    };
    rpc.onstall = () => this.dispatchEvent(new Event('status'));
    this.rpc = rpc;
    this.unacknowledged = 0;
    if (!this.known || !await this.resume(rpc)) await this.begin(rpc);
    this.known = true;
    rpc.notify(looking, { channel: rootURI, terminals: this.lookedAt });
    return { closed };
  }

  /** @param {RPC} rpc */
  async begin(rpc) {
    const answer = rpc.request('initialize', {
      channel: rootURI, protocolVersions: versions, clientId: this.clientId,
      clientInfo: { name: 'termhost page' }, initialSubscriptions: [rootURI],
      _meta: this.abilities,
    });
    this.joined = true; // what is sent from now on comes behind
    const subscribed = Promise.all([...this.followers].map(([uri, f]) => this.subscribe(uri, f)));
    const hello = await answer;
    this.inputs.resolve(undefined);
    this.directory = hello.defaultDirectory ?? '';
    const { hostname = '', time = Date.now(), person = '' } = hello._meta?.termhost ?? {};
    this.person = person;
    this.host = oneLine(hostname, 64);
    this.session?.remember(this.host);
    this.ahead = time - Date.now();
    this.lastSeen = Math.max(this.lastSeen, hello.serverSeq);
    for (const s of hello.snapshots) {
      if (s.resource === rootURI) this.list(s.state.terminals);
    }
    await subscribed;
  }

  /**
   * asked comes when others ask for a keyboard that is here than before, whether its terminal is shown
   * or not.
   * @param {{channel: string, asks: string[], by?: string}} params
   */
  asked(params) {
    this.followers.get(params.channel)?.asked(params.asks, params.by);
    this.dispatchEvent(new CustomEvent('asked', { detail: params }));
  }

  /** @param {{channel: string, reason: string}} params */
  ended({ channel, reason }) {
    const follower = this.followers.get(channel);
    this.followers.delete(channel); // nor is it followed when the connection is made anew
    follower?.end(reason);
  }

  /**
   * resume goes on where the last WebSocket ended.
   * @param {RPC} rpc
   * @returns {Promise<boolean>} false: the host does not know this client any more
   */
  async resume(rpc) {
    const uris = [...this.followers.keys()];
    for (const f of this.followers.values()) f.asked([]); // the host tells those who ask still
    let replay;
    try {
      replay = await rpc.request('reconnect', {
        channel: rootURI, clientId: this.clientId, lastSeenServerSeq: this.lastSeen,
        subscriptions: [rootURI, ...uris], _meta: this.abilities,
      });
    } catch (e) {
      if (e instanceof RPCError) return false;
      throw e;
    }
    this.inputs.resolve(replay._meta?.termhost?.typed, replay.missing);
    for (const envelope of replay.actions) this.receive(envelope);
    for (const uri of replay.missing) this.followers.get(uri)?.gone();
    this.joined = true;
    for (const [uri, f] of this.followers) if (!uris.includes(uri)) void this.subscribe(uri, f);
    return true;
  }

  /** @param {Envelope} e */
  receive(e) {
    this.lastSeen = Math.max(this.lastSeen, e.serverSeq);
    const own = e.origin?.clientId === this.clientId ? e.origin.clientSeq : 0;
    const sent = this.dispatched.get(own);
    if (sent?.channel === e.channel) { // another channel's host knows nothing of it
      this.dispatched.delete(own);
      sent.answered(e.rejectionReason ? new RPCError({ code: 0, message: e.rejectionReason }) : null);
    }
    if (e.rejectionReason) return;
    if (e.action.type === 'root/terminalsChanged') {
      this.list(e.action.terminals);
      // The host has come into its first fleet: it tells its hosts to those who say anew where they look.
      if (!this.hosts.length && this.terminals.some((t) => t._meta?.termhost?.host)) this.lookAnew();
    }
    const follower = this.followers.get(e.channel);
    if (follower) follower.action(e);
    else if (e.action.type === 'terminal/data') this.acknowledge(utf8Length(e.action.data));
  }

  /**
   * find returns a terminal by the NAME of its channel, or else by the one that it has now.
   * @param {string} name
   */
  find(name) {
    return this.terminals.find((t) => nameOf(t.resource) === name) ?? this.terminals.find((t) => calledOf(t) === name);
  }

  /**
   * uriOf returns the URI of a terminal.
   * @param {string} name
   */
  uriOf(name) { return this.find(name)?.resource ?? terminalURI(name); }

  /**
   * called returns the NAME that a terminal has now.
   * @param {string} name
   */
  called(name) {
    const t = this.find(name);
    return t ? calledOf(t) : name;
  }

  /** @param {TerminalInfo[]} terminals */
  list(terminals) {
    this.terminals = terminals;
    this.listed = true;
    for (const t of terminals) {
      t.wants = this.wanted.get(t.resource);
      t.says = this.says.get(t.resource);
      t.closedWindow = this.unused.get(t.resource);
      t.person = this.person;
      t.group = this.groups.get(t.resource);
    }
    this.dispatchEvent(new Event('list'));
  }

  /**
   * look says what the person looks at from now on. Other terminals may then come to want them.
   * @param {string[]} uris
   */
  look(uris) {
    if (uris.join() === this.lookedAt.join()) return;
    this.lookedAt = uris;
    this.lookAnew();
  }

  /** lookAnew says it once more. */
  lookAnew() {
    if (this.joined) this.rpc?.notify(looking, { channel: rootURI, terminals: this.lookedAt });
  }

  /**
   * acknowledge says that output has been shown. What the host then sends is fresh.
   * @param {number} bytes
   */
  acknowledge(bytes) {
    this.unacknowledged += bytes;
    const soon = this.acknowledgedAt + ack.within - performance.now();
    if (this.unacknowledged >= ack.every || soon <= 0) this.acknowledgeNow();
    else this.acknowledging ||= window.setTimeout(() => this.acknowledgeNow(), soon);
  }

  acknowledgeNow() {
    clearTimeout(this.acknowledging);
    this.acknowledging = 0;
    this.acknowledgedAt = performance.now();
    if (this.unacknowledged) this.rpc?.notify(ack.method, { channel: rootURI, bytes: this.unacknowledged });
    this.unacknowledged = 0;
  }

  /**
   * follow shows a terminal to a follower from now on: a snapshot, then actions.
   * @param {string} uri
   * @param {Follower} follower
   */
  follow(uri, follower) {
    this.followers.set(uri, follower);
    if (this.joined) void this.subscribe(uri, follower);
  }

  /**
   * @param {string} uri
   * @param {Follower} follower
   */
  async subscribe(uri, follower) {
    const { rpc } = this;
    try {
      const { snapshot } = await this.request('subscribe',
        { channel: uri, _meta: { [screenFirst]: this.screenPart } });
      if (this.followers.get(uri) === follower) follower.snapshot(snapshot.state);
    } catch (e) {
      if (!(e instanceof RPCError)) return; // it is subscribed to when the connection is back
      if (e.code !== hostSilent) return follower.gone();
      await this.hostBack(uri);
      if (this.rpc === rpc && this.followers.get(uri) === follower) void this.subscribe(uri, follower);
    }
  }

  /**
   * hostBack waits until a terminal's host is worth being asked again.
   * @param {string} uri
   */
  async hostBack(uri) {
    await new Promise((resolve) => setTimeout(resolve, askAgain));
    while (awayOf(this.terminals.find((t) => t.resource === uri))) {
      await new Promise((resolve) => this.addEventListener('list', resolve, { once: true }));
    }
  }

  /** @param {string} uri */
  unfollow(uri) {
    this.followers.delete(uri);
    this.rpc?.notify('unsubscribe', { channel: uri });
  }

  /**
   * @param {string} method
   * @param {any} params
   * @returns {Promise<any>}
   */
  request(method, params) {
    return this.rpc?.request(method, params) ?? Promise.reject(new Lost('there is no connection'));
  }

  /**
   * dispatch sends an action, and returns when the host has taken it. It fails with the host's
   * reason if it is rejected.
   * @param {string} channel
   * @param {any} action
   * @returns {Promise<void>}
   */
  dispatch(channel, action) {
    return new Promise((resolve, reject) => {
      this.post(channel, action, (error) => error ? reject(error) : resolve());
    });
  }

  /**
   * post sends an action, and returns its clientSeq. answered is called later: with null when the host
   * has taken it.
   * @param {string} channel
   * @param {any} action
   * @param {(error: Error | null) => void} answered
   */
  post(channel, action, answered) {
    const clientSeq = this.clientSeq++;
    if (this.rpc) {
      this.dispatched.set(clientSeq, { channel, answered });
      this.rpc.notify('dispatchAction', { channel, clientSeq, action });
    } else queueMicrotask(() => answered(new Lost('there is no connection')));
    return clientSeq;
  }
}

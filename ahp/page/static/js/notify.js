// Notifications of the system when a terminal wants the person, for those who have asked for them.
// They say which terminal of which host, what it wants and its title, never what it shows.

import { notice } from './dialogs.js';
import { programTitle } from './format.js';
import { awayOf, calledOf, hostOf, nameOf, nameOfHolder, ownName } from './reducers.js';
import { need } from './standing.js';
import { settings } from './theme.js';

export class Notifier {
  /** @type {Map<string, {words: string, shown: Notification | null}>} By URI: what is wanted there. */
  needs = new Map();
  /** @type {Set<string>} By URI: whose keyboards are here. */
  held = new Set();
  first = true;

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {import('./layout.js').Layout} layout
   * @param {import('./panes.js').Panes} panes
   */
  constructor(connection, layout, panes) {
    this.connection = connection;
    this.layout = layout;
    this.panes = panes;
    connection.addEventListener('list', () => this.look());
    connection.addEventListener('asked', (e) => this.asked(/** @type {CustomEvent} */ (e).detail));
  }

  /** allowed says whether the browser lets this page notify; none: it never does. */
  allowed() { return globalThis.Notification?.permission ?? 'none'; }

  /** ask has the browser ask the person, once they have said that they want notifications. */
  async ask() {
    if (settings.values.notify && this.allowed() === 'default') await Notification.requestPermission();
  }

  /** look compares what is wanted with what was. What was wanted when the page opened is on it. */
  look() {
    const before = this.needs;
    this.needs = new Map();
    for (const t of this.connection.terminals) {
      const old = before.get(t.resource), words = awayOf(t) ? old?.words : need(t); // a silent host's wants stand
      if (!words) continue;
      before.delete(t.resource);
      const fresh = old?.words !== words && !this.first;
      this.needs.set(t.resource, { words, shown: fresh ? this.show(t, words) : old?.shown ?? null });
    }
    for (const { shown } of before.values()) shown?.close();
    this.lookAtKeyboards();
    this.first = false;
  }

  /** lookAtKeyboards tells of those that were here and are another's now, where the terminal does not. */
  lookAtKeyboards() {
    const { clientId, followers, terminals } = this.connection, before = this.held;
    this.held = new Set();
    for (const t of terminals) {
      if (t.claim.clientId === clientId) this.held.add(t.resource);
      else if (before.has(t.resource) && !followers.has(t.resource)) {
        notice(`${nameOfHolder(t.claim, t)} has the keyboard of ${calledOf(t)}`);
      }
    }
  }

  /** @param {{channel: string, by?: string}} asked Who asks for a keyboard that is here. */
  asked({ channel, by }) {
    const t = this.connection.terminals.find((t) => t.resource === channel);
    if (!by || !t) return;
    if (!this.connection.followers.has(channel)) notice(`${by} asks for the keyboard of ${calledOf(t)}`);
    this.show(t, `${by} asks for the keyboard`);
  }

  /** @param {string} name */
  lookedAt(name) {
    return !document.hidden && document.hasFocus() && this.panes.visible.includes(name);
  }

  /**
   * @param {import('./reducers.js').TerminalInfo} t
   * @param {string} words
   */
  show(t, words) {
    const name = nameOf(t.resource);
    if (!settings.values.notify || this.allowed() !== 'granted' || this.lookedAt(name)) return null;
    try {
      const n = new Notification(`${calledOf(t)}: ${words}`, {
        body: [programTitle(t.title, ownName(calledOf(t))), !hostOf(name) && this.connection.host].filter(Boolean).join(' \u2013 '),
        tag: `termhost ${location.origin} ${name}`, icon: 'icon-needs.svg',
      });
      n.onclick = () => {
        window.focus();
        this.layout.show(name);
        n.close();
      };
      return n;
    } catch { // some browsers have them for installed pages only
      settings.set({ notify: false });
      notice('This browser does not show notifications of pages.');
      return null;
    }
  }
}

// The browser tab's icon and title say whether a terminal needs the person, and otherwise how the
// one that is looked at stands.

import { standing } from './standing.js';
import { nameOf } from './reducers.js';

/** @type {Record<string, string>} The icons, by what they say. */
const icons = {
  needs: 'icon-needs.svg', ok: 'icon-ok.svg', failed: 'icon-failed.svg', signal: 'icon-failed.svg',
  lost: 'icon-failed.svg', running: 'icon-running.svg',
};
const plainIcon = 'icon.svg';

export class Favicon {
  last = '';

  /**
   * @param {import('./connection.js').Connection} connection
   * @param {import('./layout.js').Layout} layout
   */
  constructor(connection, layout) {
    this.connection = connection;
    this.layout = layout;
    this.link = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel=icon]'));
    connection.addEventListener('list', () => this.draw());
    layout.addEventListener('change', () => this.draw());
  }

  draw() {
    const { terminals } = this.connection, name = this.layout.focus;
    const looked = terminals.find((t) => nameOf(t.resource) === name);
    const needs = terminals.filter((t) => standing(t).kind === 'needs').length;
    const s = looked && standing(looked);
    this.set(needs ? icons.needs : icons[s?.kind ?? ''] ?? plainIcon);
    const mark = needs ? `(${needs}) ` : s && s.kind !== 'running' ? `${s.mark} ` : '';
    const host = this.connection.host || 'termhost';
    document.title = mark + (name ? `${this.connection.called(name)} \u2013 ${host}` : host);
  }

  /** @param {string} icon */
  set(icon) {
    const { href } = new URL(icon, document.baseURI);
    if (href === this.last) return;
    this.last = href;
    this.link.href = href;
  }
}

// The page: gets in, connects, and puts the parts together.

import { Actions } from './actions.js';
import { Address } from './address.js';
import { clientId } from './clientid.js';
import { Compose } from './compose.js';
import { Connection } from './connection.js';
import { button, fill, h } from './dom.js';
import { drawer } from './drawer.js';
import { Favicon } from './favicon.js';
import { formatFragment, parseFragment } from './fragment.js';
import { icon } from './icons.js';
import { keyHelp } from './keyhelp.js';
import { Layout } from './layout.js';
import { loadBehind, loaded } from './library.js';
import { List } from './list.js';
import { Notifier } from './notify.js';
import { Panes } from './panes.js';
import { preferences } from './preferences.js';
import { watchPresses } from './presses.js';
import { Refused, Session } from './session.js';
import { refusal, Strip } from './status.js';
import { keepPage } from './upload.js';
import { lendStyles } from './xterm-csp.js';

async function start() {
  watchPresses();
  keepPage();
  const fragment = parseFragment(location.hash);
  if (fragment.ticket) { // it is spent, and has no place in the history
    history.replaceState(null, '', formatFragment(fragment.tabs, fragment.options));
  }
  if (!fragment.ticket && !Session.isStored()) {
    throw new Refused('This page opens with a ticket, which is good for one minute and one use.',
      { title: 'Who are you?' });
  }
  lendStyles();
  const connection = new Connection();
  loadBehind(new Promise((resolve) => connection.addEventListener('list', resolve, { once: true })));
  show(connection, fragment); // there is something to see before the host is asked
  const before = Session.name;
  const session = await (fragment.ticket ? Session.enter(fragment.ticket) : Session.restore());
  void connection.run(session, await clientId(session.credentials.name === before));
}

/**
 * show puts the page together, which fills with what the host tells.
 * @param {Connection} connection
 * @param {import('./fragment.js').Fragment} fragment
 */
function show(connection, fragment) {
  const layout = new Layout();
  const actions = new Actions(connection, layout);
  const debug = fragment.options.get('debug') === 'screen', asked = fragment.options.get('ask');
  fragment.options.delete('ask'); // the link of a notification leads to it once
  const panes = new Panes(connection, layout, actions, { debug });
  actions.panes = panes;
  const list = new List(connection, {
    open: (name, beside) => beside ? layout.splitFocus(name, beside) : layout.show(name),
    create: (on) => void actions.create('', on),
    visible: () => panes.visible,
    focus: () => layout.focus,
    reply: {
      answer: (name, question, text) => void actions.answer(name, question, text),
      decide: (name, ask, decision, reason) => {
        if (decision === 'edit') layout.show(name);
        return actions.decide(name, ask, decision, reason);
      },
    },
  });
  actions.list = list;
  document.addEventListener('keydown', (e) => panes.key(e));
  const strip = new Strip(connection);
  const notifier = new Notifier(connection, layout, panes);
  const compose = new Compose(() => panes.focused?.view, () => connection.observer);
  const app = h('div', { class: 'app' });
  fill(document.body, app);
  fill(app, list.element, h('main', {}, h('h1', { class: 'unseen' }, 'Terminals'),
    h('div', { class: 'top' }, drawer(app, list, layout), panes.tabs,
      button('Keys', icon('keys'), keyHelp, 'icon'),
      button('Settings', icon('settings'), () => preferences(notifier), 'icon')),
    strip.element, compose.element, panes.stage)); // the terminals come last for Tab
  new Favicon(connection, layout);

  const address = new Address(layout, fragment);
  address.addEventListener('find', () => panes.focused?.openSearch(address.find));
  panes.stage.addEventListener('goto', (e) => {
    const { name, text } = /** @type {CustomEvent} */ (e).detail;
    layout.show(name);
    panes.focused?.openSearch(text);
  });
  panes.stage.addEventListener('found', (e) => { address.find = /** @type {CustomEvent} */ (e).detail; });
  layout.addEventListener('change', () => {
    list.draw();
    compose.draw();
  });
  connection.addEventListener('status', () => {
    const { reason } = connection;
    void loaded.then(() => { document.documentElement.dataset.termhost = connection.status; });
    if (reason instanceof Refused) refusal(reason);
  });
  if (asked) {
    const listed = new Promise((resolve) => connection.addEventListener('list', resolve, { once: true }));
    void Promise.all([loaded, listed]).then(() => panes.focused?.lookAt(asked));
  }
  let first = true;
  connection.addEventListener('list', () => {
    compose.draw();
    if (first) panes.settle();
    first = false;
  });
  address.open();
  void loaded.then(() => {
    panes.begin();
    if (address.find) panes.focused?.openSearch(address.find);
  });
}

start().catch((e) => refusal(e instanceof Refused ? e : new Refused(e.message)));

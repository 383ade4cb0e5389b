// The dialog with the settings of this browser. Each is in force at once; there is nothing to save.

import { modal } from './dialogs.js';
import { button, fill, h } from './dom.js';
import { keyRows, leastSize, mostSize, settings, themes } from './theme.js';

/**
 * @typedef {import('./theme.js').Values} Values
 * @typedef {{allowed(): 'granted' | 'denied' | 'default' | 'none', ask(): Promise<void>}} Notices
 */

/** What is said of each choice. */
const names = {
  system: 'System', light: 'Light', dark: 'Dark', contrast: 'High contrast',
  auto: 'Small or touch screens', always: 'Always', never: 'Never',
};
const families = ['JetBrains Mono', 'Fira Code', 'Cascadia Code', 'Source Code Pro', 'IBM Plex Mono', 'Iosevka',
  'Hack', 'DejaVu Sans Mono', 'Menlo', 'Consolas'];

/** Where there is an Option key; xterm.js asks the same. */
const onMac = /^Mac/.test(navigator.platform);

/** @param {Notices} notices */
export function preferences(notices) {
  const list = h('datalist', { id: 'families' }, ...families.map((f) => h('option', { value: f })));
  const family = h('input', { 'aria-label': 'Font', placeholder: 'The system\u2019s', spellcheck: false,
    autocomplete: 'off', oninput: () => settings.set({ family: family.value }) });
  family.setAttribute('list', 'families');
  const size = h('input', { type: 'number', 'aria-label': 'Size in pixels', min: String(leastSize),
    max: String(mostSize), onchange: () => settings.set({ size: Number(size.value) }) });
  const themeCards = h('div', { class: 'themes', role: 'radiogroup', 'aria-label': 'Theme' },
    ...themes.map((theme) => h('label', { class: 'card' },
      h('input', { type: 'radio', name: 'theme', value: theme, onchange: () => settings.set({ theme }) }),
      h('span', { class: 'swatch', 'data-swatch': theme, 'aria-hidden': 'true' },
        h('i', {}), h('b', {}), h('b', {}), h('b', {})),
      names[/** @type {keyof typeof names} */ (theme)])));
  const keys = h('select', { 'aria-label': 'Compose line and row of keys', onchange: () =>
    settings.set({ keys: keys.value }) }, ...keyRows.map((k) =>
    h('option', { value: k }, names[/** @type {keyof typeof names} */ (k)])));
  const told = h('span', { class: 'hint' });
  const boxes = {
    blink: box('blink', 'Blinking cursor'),
    commands: box('commands', 'Commands beside each terminal'),
    release: box('release', 'Closing a view hands back a keyboard that was taken there'),
    option: box('option', 'The Option key is Meta, and composes no characters'),
    notify: box('notify', 'Notify me when a terminal wants me'),
    joined: box('joined', 'Join and order right-to-left text, where cells are then not exact'),
    aloud: box('aloud', 'Tell screen readers what terminals print'),
  };
  boxes.notify.input.addEventListener('change', () => void notices.ask().then(draw));

  const dialog = h('dialog', { class: 'settings', 'aria-label': 'Settings' },
    h('header', {}, h('h2', {}, 'Settings'), button('Close', '\u00d7', () => dialog.close(), 'icon')),
    h('div', { class: 'sections' },
      section('Look', themeCards,
        row('Font', family), list,
        row('Size', h('span', { class: 'stepper' },
          button('Smaller', '\u2212', () => settings.set({ size: settings.size - 1 })), size,
          button('Larger', '+', () => settings.set({ size: settings.size + 1 })))),
        sample(), boxes.blink.element, boxes.joined.element),
      section('Terminals', boxes.commands.element, boxes.release.element,
        row('Compose line and keys', keys), onMac && boxes.option.element),
      section('Notifications', boxes.notify.element, told),
      section('Screen readers', boxes.aloud.element,
        h('p', { class: 'hint' }, 'The menu of each terminal has its text as a plain document, too.'))),
    h('footer', {}, h('span', { class: 'hint' }, 'Kept in this browser.'),
      button('Reset', 'Reset', () => settings.reset()),
      button('Done', 'Done', () => dialog.close(), 'primary')));

  const draw = () => {
    const { values } = settings;
    for (const radio of themeCards.querySelectorAll('input')) radio.checked = radio.value === values.theme;
    if (document.activeElement !== family) family.value = values.family;
    size.value = String(values.size);
    keys.value = values.keys;
    const allowed = notices.allowed();
    for (const [name, b] of Object.entries(boxes)) b.input.checked = Boolean(values[/** @type {keyof Values} */ (name)]);
    boxes.notify.input.checked &&= allowed === 'granted';
    boxes.notify.input.disabled = allowed === 'denied' || allowed === 'none';
    fill(told, words[allowed]);
  };
  draw();
  settings.addEventListener('change', draw);
  dialog.addEventListener('close', () => settings.removeEventListener('change', draw));
  modal(dialog);
  themeCards.querySelector('input:checked') instanceof HTMLElement &&
    /** @type {HTMLElement} */ (themeCards.querySelector('input:checked')).focus();
}

/** @type {Record<'granted' | 'denied' | 'default' | 'none', string>} */
const words = {
  granted: 'They name the terminal, what it wants and its title, never what it shows.',
  default: 'The browser will ask you whether it may. They name the terminal, what it wants and its ' +
    'title, never what it shows.',
  denied: 'This browser has been told not to show notifications of this page: its own settings for ' +
    'this address change that.',
  none: 'This browser has no notifications for pages.',
};

/**
 * @param {string} title
 * @param {...(Node | false)} children
 */
function section(title, ...children) {
  return h('section', { 'aria-label': title }, h('h3', {}, title), ...children);
}

/**
 * @param {string} label
 * @param {Node} control It has its own name.
 */
function row(label, control) {
  return h('div', { class: 'row' }, h('span', { 'aria-hidden': 'true' }, label), control);
}

/**
 * @param {keyof Values} name
 * @param {string} label
 */
function box(name, label) {
  const input = h('input', { type: 'checkbox', onchange: () => settings.set({ [name]: input.checked }) });
  return { input, element: h('label', { class: 'check' }, input, h('span', {}, label)) };
}

/** sample shows what terminals will look like. */
function sample() {
  return h('pre', { class: 'sample', 'aria-hidden': 'true' },
    h('span', { class: 'c2' }, '$ '), 'go test ./...\n',
    h('span', { class: 'c2' }, 'ok'), '    termhost/ahp    0.3s  ', h('span', { class: 'c8' }, '0O 1lI {}'), '\n',
    h('span', { class: 'c1' }, 'FAIL'), '  termhost/vt     ', h('span', { class: 'c3' }, 'λ ─┼─ →'), ' ',
    h('span', { class: 'cursor' }, ' '));
}

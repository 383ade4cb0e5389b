// For screens without a keyboard of their own: a line in which a text is composed and then sent as a
// paste, so that no prediction or correction garbles it, and a row of the keys that phones lack.

import { button, fill, h } from './dom.js';
import { modifiers } from './modifiers.js';
import { keysWanted, whenResized } from './small.js';
import { settings } from './theme.js';

/** @typedef {import('./terminal.js').TerminalView} TerminalView */

/** @type {[string, string, import('./modifiers.js').Key][]} Name, label, key. */
const keys = [
  ['Left', '\u2190', 'Left'], ['Down', '\u2193', 'Down'], ['Up', '\u2191', 'Up'], ['Right', '\u2192', 'Right'],
  ['PgUp', 'PgUp', 'PageUp'], ['PgDn', 'PgDn', 'PageDown'],
];
/** What a shell's line has and the first level of a phone's keyboard has not. */
const signs = ['|', '~', '/', '-'];

export class Compose {
  secret = false;
  before = ''; // what stood in the field before the last change

  /**
   * @param {() => TerminalView | undefined} current The terminal that has the focus.
   * @param {() => boolean} observer Whether the page may not type at all.
   */
  constructor(current, observer) {
    this.current = current;
    this.observer = observer;
    this.ctrl = button('Ctrl', 'Ctrl', () => modifiers.toggle('ctrl'));
    this.alt = button('Alt', 'Alt', () => modifiers.toggle('alt'));
    const row = h('div', { class: 'keyrow', role: 'toolbar', 'aria-label': 'Keys' },
      button('Compose', '\u270e', () => this.ask(true), 'short-only'),
      button('Esc', 'Esc', () => this.type(modifiers.apply('\x1b'))),
      button('Tab', 'Tab', () => this.type(modifiers.apply('\t'))), this.ctrl, this.alt,
      ...keys.map(([name, label, key]) => button(name, label, () => {
        this.type(modifiers.key(key, !!this.current()?.screen.term.modes.applicationCursorKeysMode));
      })),
      ...signs.map((sign) => button(sign, sign, () => this.sign(sign))),
      button('Enter', 'Enter', () => this.type(modifiers.apply('\r'))));
    row.addEventListener('pointerdown', (e) => e.preventDefault()); // the keyboard on the screen stays
    this.field = this.makeField(false);
    this.line = h('div', { class: 'line' });
    this.element = h('section', { class: 'compose', 'aria-label': 'Compose', hidden: true }, row, this.line);
    this.line.addEventListener('focusin', () => this.element.classList.add('asked')); // the window may become short
    this.fillLine();
    modifiers.addEventListener('change', () => this.draw());
    settings.addEventListener('change', () => this.draw());
    whenResized(() => this.draw());
    this.draw();
  }

  /** draw shows what has changed: whether there is a terminal to type into, and what it asks for. */
  draw() {
    const view = this.current();
    this.element.hidden = !view || this.observer() || !keysWanted();
    this.ctrl.setAttribute('aria-pressed', String(modifiers.ctrl));
    this.alt.setAttribute('aria-pressed', String(modifiers.alt));
    const secret = view?.info?._meta?.termhost?.waiting === 'secret';
    if (secret === this.secret) return;
    this.secret = secret;
    const old = this.field, had = old === document.activeElement;
    this.field = this.makeField(secret);
    if (secret) this.field.value = this.before = old.value; // the other way it would come to light
    this.fillLine();
    if (had) this.field.focus();
  }

  /**
   * ask shows or hides the line where the window is so short that it is not always there.
   * @param {boolean} on
   */
  ask(on) {
    this.element.classList.toggle('asked', on);
    if (on) this.field.focus();
    else this.current()?.focus();
  }

  fillLine() {
    fill(this.line, this.field, button('Close the compose line', '\u00d7', () => this.ask(false), 'icon short-only'), button('Insert without Enter', 'Insert', () => void this.send('')),
      button('Send', 'Send', () => void this.send('\r'), 'primary'));
  }

  /** @param {boolean} secret What is typed is not to be seen. */
  makeField(secret) {
    const common = {
      'aria-label': 'Compose line', placeholder: secret ? 'A secret' : 'Compose', autocomplete: 'off', spellcheck: false,
      autocapitalize: 'off', enterKeyHint: 'send', oninput: (/** @type {InputEvent} */ e) => this.changed(e),
      onkeydown: (/** @type {KeyboardEvent} */ e) => {
        if (e.key !== 'Enter' || e.shiftKey || e.isComposing) return;
        e.preventDefault();
        void this.send('\r');
      },
    };
    this.before = '';
    const field = secret ? h('input', { ...common, type: 'password' }) : h('textarea', { ...common, rows: 1 });
    field.setAttribute('autocorrect', 'off');
    return field;
  }

  /**
   * changed takes a character out again that was meant for Ctrl or Alt.
   * @param {InputEvent} e
   */
  changed(e) {
    const char = modifiers.armed && e.data ? [...e.data].at(-1) : '';
    if (!char) {
      this.before = this.field.value;
      return;
    }
    this.field.value = this.before;
    this.type(modifiers.apply(char));
  }

  /**
   * sign inserts a character where the person writes: into the line, or else into the terminal.
   * @param {string} char
   */
  sign(char) {
    const { field } = this;
    if (field !== document.activeElement || modifiers.armed) return this.type(modifiers.apply(char));
    field.setRangeText(char, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end');
    this.before = field.value;
  }

  /** @param {string} data What a key sends. */
  type(data) { this.current()?.screen.term.input(data); }

  /** @param {string} end What follows the text. */
  async send(end) {
    const view = this.current();
    if (!view || !await view.keyboard.here()) return;
    const { value } = this.field;
    if (value && !await view.keyboard.paste(value)) return this.field.focus();
    if (end) view.screen.term.input(end);
    const { field } = this; // another one, perhaps, if a program has begun to ask for a secret meanwhile
    if (field.value.startsWith(value)) field.value = field.value.slice(value.length);
    this.before = field.value;
    field.focus();
  }
}

// Kitty's keyboard protocol, which xterm.js does not speak: what keys send while the program asks for
// it (https://sw.kovidgoyal.net/kitty/keyboard-protocol). The host answers whether there is one, and
// encodes in the same way (package ptypool/keyboard).

/** @typedef {import('../vendor/xterm.mjs').Terminal} Terminal */

/** The flags of the protocol ("Progressive enhancement"). */
const disambiguate = 1, events = 2, alternates = 4, allKeys = 8, text = 16;
/** The depth of the stack of flags: the host's, and kitty's own. */
const maxStack = 16;

/** @type {Record<string, [number, string]>} By KeyboardEvent.key: the number, and the final byte. */
const functions = {
  ArrowUp: [1, 'A'], ArrowDown: [1, 'B'], ArrowRight: [1, 'C'], ArrowLeft: [1, 'D'], Home: [1, 'H'], End: [1, 'F'],
  Insert: [2, '~'], Delete: [3, '~'], PageUp: [5, '~'], PageDown: [6, '~'],
  F1: [1, 'P'], F2: [1, 'Q'], F3: [13, '~'], F4: [1, 'S'],
};
[15, 17, 18, 19, 20, 21, 23, 24].forEach((n, i) => { functions[`F${i + 5}`] = [n, '~']; });
for (let n = 13; n <= 24; n++) functions[`F${n}`] = [57363 + n, 'u'];

/** @type {Record<string, number>} By KeyboardEvent.key: keys that have always sent a byte. */
const bytes = { Enter: 13, Tab: 9, Backspace: 127, Escape: 27 };
/** @type {Record<string, number>} By KeyboardEvent.code: keys that send something only where all do. */
const silent = {
  CapsLock: 57358, ScrollLock: 57359, NumLock: 57360, PrintScreen: 57361, Pause: 57362, ContextMenu: 57363,
  ShiftLeft: 57441, ControlLeft: 57442, AltLeft: 57443, MetaLeft: 57444,
  ShiftRight: 57447, ControlRight: 57448, AltRight: 57449, MetaRight: 57450,
};
/** @type {Record<string, number>} By KeyboardEvent.code: keys of the keypad. */
const keypad = { NumpadDecimal: 57409, NumpadDivide: 57410, NumpadMultiply: 57411, NumpadSubtract: 57412,
  NumpadAdd: 57413, NumpadEnter: 57414, NumpadEqual: 57415 };
for (let n = 0; n <= 9; n++) keypad[`Numpad${n}`] = 57399 + n;

/** @type {Record<string, string>} By KeyboardEvent.code: what a key types on a US keyboard. */
const us = { Minus: '-', Equal: '=', BracketLeft: '[', BracketRight: ']', Backslash: '\\', Semicolon: ';',
  Quote: "'", Backquote: '\x60', Comma: ',', Period: '.', Slash: '/', Space: ' ' };
for (let n = 0; n <= 9; n++) us[`Digit${n}`] = String(n);
for (const letter of 'abcdefghijklmnopqrstuvwxyz') us[`Key${letter.toUpperCase()}`] = letter;

export class KittyKeys {
  /** @type {Record<'normal' | 'alternate', number[]>} Of each screen: the flags in force are the last. */
  stacks = { normal: [0], alternate: [0] };

  /** @param {Terminal} term */
  constructor(term) {
    this.term = term;
    const { parser } = term;
    /** @param {(stack: number[], params: (number | number[])[]) => void} change */
    const changes = (change) => (/** @type {(number | number[])[]} */ params) => {
      change(this.stacks[term.buffer.active.type], params);
      return true;
    };
    parser.registerCsiHandler({ prefix: '>', final: 'u' }, changes((stack, p) => {
      if (stack.length > maxStack) stack.splice(1, 1);
      stack.push(Number(p[0] ?? 0) & 31);
    }));
    parser.registerCsiHandler({ prefix: '<', final: 'u' }, changes((stack, p) => {
      const n = Number(p[0]) || 1;
      if (n >= stack.length) stack.splice(0, stack.length, 0);
      else stack.length -= n;
    }));
    parser.registerCsiHandler({ prefix: '=', final: 'u' }, changes((stack, p) => {
      const flags = Number(p[0] ?? 0) & 31, top = stack.length - 1, how = Number(p[1]) || 1;
      if (how === 1) stack[top] = flags;
      if (how === 2) stack[top] |= flags;
      if (how === 3) stack[top] &= ~flags;
    }));
    parser.registerEscHandler({ final: 'c' }, () => {
      this.stacks = { normal: [0], alternate: [0] };
      return false;
    });
  }

  /** The flags in force; 0: keys are encoded as ever. */
  get flags() { return this.stacks[this.term.buffer.active.type].at(-1) ?? 0; }

  /** Whether keys that are more than a character are told apart. */
  get disambiguates() { return (this.flags & (disambiguate | allKeys)) !== 0; }

  /**
   * encode returns what a key sends; null: what it sends without the protocol.
   * @param {KeyboardEvent} e
   */
  encode(e) {
    const { flags } = this, released = e.type === 'keyup';
    if (!(flags & ~alternates & ~text) || e.isComposing || e.keyCode === 229 || e.metaKey && !(e.code in silent)) return null;
    const altGr = e.getModifierState('AltGraph') && [...e.key].length === 1;
    const mods = (e.shiftKey ? 1 : 0) + (altGr ? 0 : (e.altKey ? 2 : 0) + (e.ctrlKey ? 4 : 0)) + (e.metaKey ? 8 : 0);
    if (released && !(flags & events)) return null;
    const kind = !(flags & events) ? 1 : released ? 3 : e.repeat ? 2 : 1;
    const known = functions[e.key];
    if (known && !(e.code in keypad)) return sequence(known[0], mods, kind, known[1]);
    if (e.code in silent) return flags & allKeys ? sequence(silent[e.code], mods, kind, 'u') : null;
    const onPad = keypad[e.code], byte = bytes[e.key];
    const typed = [...e.key].length === 1 && !(mods & ~1) ? e.key : '';
    if (!byte && [...e.key].length !== 1) return null; // dead keys, and keys of the browser
    if (!(flags & allKeys)) {
      if (typed && !released) return null;
      if (byte && byte !== 27 && !onPad && (!mods || released)) return null;
      if (!(flags & disambiguate) && !released) return null;
    }
    const code = onPad ?? byte ?? unshifted(e).codePointAt(0);
    let number = String(code);
    if (flags & alternates && !onPad && !byte) {
      const shifted = e.shiftKey && e.key.codePointAt(0) !== code ? e.key.codePointAt(0) : '';
      const base = us[e.code]?.codePointAt(0), other = base && base !== code ? base : '';
      if (shifted || other) number += `:${shifted}`;
      if (other) number += `:${other}`;
    }
    return sequence(number, mods, kind, 'u', flags & allKeys && flags & text && typed && !released ? typed : '');
  }
}

/**
 * unshifted returns what a key types without Shift, as far as a page can know: what it types with
 * Shift is no letter on some keyboards.
 * @param {KeyboardEvent} e
 */
function unshifted(e) {
  const lower = e.key.toLowerCase();
  if (!e.shiftKey || lower !== e.key) return lower;
  return us[e.code] ?? e.key;
}

/**
 * @param {string | number} number
 * @param {number} mods
 * @param {number} kind 1: pressed, 2: repeated, 3: released
 * @param {string} final
 * @param {string} [typed] The text that the key types, if the program is told.
 */
function sequence(number, mods, kind, final, typed = '') {
  const points = [...typed].map((c) => c.codePointAt(0)).join(':');
  const modified = mods || kind > 1 ? `${mods + 1}${kind > 1 ? `:${kind}` : ''}` : '';
  const rest = points ? `;${modified};${points}` : modified ? `;${modified}` : '';
  return `\x1b[${number === 1 && !rest ? '' : number}${rest}${final}`;
}

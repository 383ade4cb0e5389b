// Ctrl and Alt of the row of keys: tapped once, they hold for the key that comes next, wherever it is
// typed. Keys are encoded as xterm does (ctlseqs, "PC-Style Function Keys").

/** The last byte of what an arrow sends, or the number before a tilde. */
const sequences = { Up: 'A', Down: 'B', Right: 'C', Left: 'D', PageUp: '5', PageDown: '6' };

/** @typedef {keyof sequences} Key */

/** Modifiers dispatches "change". */
class Modifiers extends EventTarget {
  ctrl = false;
  alt = false;

  get armed() { return this.ctrl || this.alt; }

  /** @param {'ctrl' | 'alt'} which */
  toggle(which) {
    this[which] = !this[which];
    this.dispatchEvent(new Event('change'));
  }

  /** take returns which of them hold, and lets go of them. */
  take() {
    const { ctrl, alt } = this;
    if (ctrl || alt) {
      this.ctrl = this.alt = false;
      this.dispatchEvent(new Event('change'));
    }
    return { ctrl, alt };
  }

  /**
   * apply returns what a character becomes with those that hold.
   * @param {string} data Other data than one character stays as it is, and leaves them alone.
   */
  apply(data) {
    if (!this.armed || [...data].length !== 1) return data;
    const { ctrl, alt } = this.take();
    return (alt ? '\x1b' : '') + (ctrl ? control(data) : data);
  }

  /**
   * key returns what a key sends that is not a character.
   * @param {Key} key
   * @param {boolean} application The program wants arrows in its own form (DECCKM).
   */
  key(key, application) {
    const { ctrl, alt } = this.take(), code = sequences[key];
    const number = 1 + (alt ? 2 : 0) + (ctrl ? 4 : 0);
    if (/\d/.test(code)) return `\x1b[${code}${number > 1 ? `;${number}` : ''}~`;
    return number > 1 ? `\x1b[1;${number}${code}` : `\x1b${application ? 'O' : '['}${code}`;
  }
}

/** @param {string} char */
function control(char) {
  const c = char.toUpperCase().charCodeAt(0);
  if (c >= 0x40 && c < 0x60) return String.fromCharCode(c & 0x1f);
  return char === ' ' ? '\0' : char === '?' ? '\x7f' : char;
}

export const modifiers = new Modifiers();

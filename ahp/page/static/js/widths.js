// How many cells a character takes: as the host's screen has it (ptypool/vt/width), so that what is
// drawn here has the shape that the program meant. Each is measured by itself, or with those that it
// makes a grapheme cluster with (Unicode annex 29) in mode 2027.

import { cells, runs } from './widths-table.js';

const Control = 0, Extend = 3, ZWJ = 4, Picto = 5, WidePicto = 6, Flag = 7, Prepended = 8,
  Spacing = 9, WideSpacing = 10, Leading = 11, Vowel = 12, Trailing = 13, Open = 14, Closed = 15,
  Modifier = 16;

// What the text so far means for what may join it.
const begin = 0, plain = 1, prepended = 2, leading = 3, vowel = 4, trailing = 5, halfFlag = 6,
  pictograph = 7, tied = 8;

const tableSize = 0x20000; // the planes with nearly all that is in use
const table = new Uint8Array(tableSize);
/** @type {{start: number, kind: number}[]} */
const beyond = [];
{
  let at = 0;
  for (const [, count, letter] of runs.matchAll(/(\d+)([a-q])/g)) {
    const kind = letter.charCodeAt(0) - 97, end = at + Number(count);
    if (at < tableSize) table.fill(kind, at, Math.min(end, tableSize));
    if (end > tableSize) beyond.push({ start: at, kind });
    at = end;
  }
}

/** @param {number} cp */
export function classOf(cp) {
  if (cp < tableSize) return table[cp];
  let low = 0, high = beyond.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (beyond[middle].start <= cp) low = middle;
    else high = middle - 1;
  }
  return beyond[low].kind;
}

/**
 * @param {number} s
 * @param {number} c
 * @returns {[next: number, joins: boolean]}
 */
function step(s, c) {
  const joins = s === prepended;
  switch (c) {
    case Control: return [begin, false];
    case Extend: case ZWJ: case Spacing: case WideSpacing: case Modifier:
      if (s === pictograph && (c === Extend || c === Modifier)) return [pictograph, true];
      if (s === pictograph && c === ZWJ) return [tied, true];
      return [plain, s !== begin];
    case Prepended: return [prepended, joins];
    case Picto: case WidePicto: return [pictograph, joins || s === tied];
    case Flag: return s === halfFlag ? [plain, true] : [halfFlag, joins];
    case Leading: return [leading, joins || s === leading];
    case Open: return [vowel, joins || s === leading];
    case Closed: return [trailing, joins || s === leading];
    case Vowel: return [vowel, joins || s === leading || s === vowel];
    case Trailing: return [trailing, joins || s === vowel || s === trailing];
  }
  return [plain, joins];
}

const textStyle = 0xfe0e, emojiStyle = 0xfe0f;

/**
 * withoutLeading leaves out what takes no cell at the beginning of a line, where it has nothing to
 * join: the host's screen drops it, and xterm.js would give it a cell.
 * @param {string} text
 */
export function withoutLeading(text) {
  return text.replace(/([\r\n])[\p{Mn}\p{Me}\p{Cf}]+/gu, '$1');
}

/** @typedef {import('../vendor/xterm.mjs').IUnicodeVersionProvider} IUnicodeVersionProvider */

/** @implements {IUnicodeVersionProvider} */
export class Widths {
  version = 'termhost';
  clusters = false; // mode 2027

  /**
   * follow has the mode be the one that a terminal is told.
   * @param {import('../vendor/xterm.mjs').Terminal} term
   */
  follow(term) {
    for (const final of ['h', 'l']) {
      term.parser.registerCsiHandler({ prefix: '?', final }, (params) => {
        if (params.includes(2027)) this.clusters = final === 'h';
        return false; // it may set others, too
      });
    }
    term.parser.registerEscHandler({ final: 'c' }, () => this.clusters = false);
  }

  /**
   * @param {number} cp
   * @returns {0 | 1 | 2}
   */
  wcwidth(cp) { return /** @type {0 | 1 | 2} */ (cells[classOf(cp)]); }

  /**
   * charProperties is asked for each character, with what it has returned for the one before. Its
   * number has, from the lowest bit: whether the character joins; the cells of its cluster so far
   * (2 bits); the state (4 bits) and the class of the cluster's first character (5 bits).
   * @param {number} cp
   * @param {number} preceding
   */
  charProperties(cp, preceding) {
    const c = classOf(cp), own = c === Flag && this.clusters ? 2 : cells[c];
    const before = (preceding >> 3) & 15, first = (preceding >> 7) & 31, had = (preceding >> 1) & 3;
    const [next, joins] = step(before, c);
    if (!joins || !this.clusters) {
      // What takes no cell is kept with what is before it, and decides nothing.
      return own === 0 ? (c << 7) | (next << 3) | (had << 1) | 1 : (c << 7) | (next << 3) | (own << 1);
    }
    let all = had;
    if (first === Picto || first === WidePicto) {
      if (cp === textStyle || cp === emojiStyle) all = cp - textStyle + 1;
    } else if (first !== Flag && first !== Leading) {
      all = had + own;
    }
    all = Math.min(2, Math.max(had, all)); // a cell that is wide stays wide
    return (first << 7) | (next << 3) | (all << 1) | 1;
  }
}

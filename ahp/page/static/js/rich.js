// Text as a terminal draws it, as elements: lines with colours, which can be selected, searched and
// read aloud. Colours come from classes and the CSSOM, which the page's policy allows.

import { h } from './dom.js';
import { newTerminal } from './screen.js';
import { withoutLeading } from './widths.js';

/** How many lines are kept of a text: its end. */
const mostLines = 20000;

/**
 * rich draws what a program has printed into elements, one for each line.
 * @param {string} text
 * @param {number} cols
 * @returns {Promise<{lines: HTMLElement[], plain: string}>}
 */
export function rich(text, cols) {
  const term = newTerminal({ cols: Math.max(2, cols), rows: 24, scrollback: mostLines });
  return new Promise((resolve) => {
    term.write(withoutLeading(text), () => {
      const { lines, plain } = linesOf(term);
      term.dispose();
      resolve({ lines, plain });
    });
  });
}

/**
 * linesOf returns all that a terminal shows and what has scrolled out of it. Lines that were broken at
 * the edge are whole again.
 * @param {import('../vendor/xterm.mjs').Terminal} term
 */
export function linesOf(term) {
  const buffer = term.buffer.active;
  /** @type {HTMLElement[]} */
  const lines = [];
  /** @type {string[]} */
  const plain = [];
  for (let y = 0; y < buffer.length; y++) {
    const line = buffer.getLine(y);
    if (!line) break;
    const whole = buffer.getLine(y + 1)?.isWrapped;
    const { spans, text } = spansOf(line, term.cols, !whole);
    if (line.isWrapped && lines.length) {
      lines[lines.length - 1].append(...spans);
      plain[plain.length - 1] += text;
    } else {
      lines.push(h('div', {}, ...spans));
      plain.push(text);
    }
  }
  while (plain.length && !plain[plain.length - 1].trim()) {
    plain.pop();
    lines.pop();
  }
  return { lines, plain: plain.map((l) => l + '\n').join('') };
}

/**
 * @param {import('../vendor/xterm.mjs').IBufferLine} line
 * @param {number} cols
 * @param {boolean} trim Whether blanks at its end are left out.
 */
function spansOf(line, cols, trim) {
  const text = line.translateToString(trim);
  /** @type {(HTMLElement | string)[]} */
  const spans = [];
  let run = '', look = '', left = text.length;
  const flush = () => {
    if (run) spans.push(look ? styled(run, look) : run);
    run = '';
  };
  for (let x = 0; x < cols && left > 0; x++) {
    const cell = line.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const chars = cell.getChars() || ' ', now = lookOf(cell);
    if (now !== look) flush();
    look = now;
    run += chars.slice(0, left);
    left -= chars.length;
  }
  flush();
  return { spans, text };
}

/**
 * lookOf names how a cell looks; "": as plain text does.
 * @param {import('../vendor/xterm.mjs').IBufferCell} c
 */
function lookOf(c) {
  const inverse = c.isInverse();
  const fg = c.isFgDefault() ? '' : (c.isFgRGB() ? '#' : 'p') + c.getFgColor();
  const bg = c.isBgDefault() ? '' : (c.isBgRGB() ? '#' : 'p') + c.getBgColor();
  const flags = [c.isBold() && 'bold', c.isDim() && 'dim', c.isItalic() && 'italic',
    c.isUnderline() && 'underline', c.isStrikethrough() && 'strike', inverse && 'inverse'].filter(Boolean);
  return fg || bg || flags.length ? JSON.stringify([fg, bg, flags.join(' ')]) : '';
}

/**
 * @param {string} text
 * @param {string} look
 */
function styled(text, look) {
  const [fg, bg, flags] = JSON.parse(look);
  const el = h('span', { class: flags }, text);
  const inverse = flags.includes('inverse');
  el.style.color = color(inverse ? bg || 'back' : fg);
  el.style.backgroundColor = color(inverse ? fg || 'text' : bg);
  return el;
}

/** @param {string} name */
function color(name) {
  if (name === 'back') return 'var(--screen)';
  if (name === 'text') return 'var(--text)';
  const n = Number(name.slice(1));
  if (name.startsWith('#')) return '#' + n.toString(16).padStart(6, '0');
  if (!name) return '';
  if (n < 16) return `var(--ansi-${n})`;
  if (n >= 232) return `rgb(${Array(3).fill(8 + (n - 232) * 10).join(' ')})`;
  const level = (/** @type {number} */ i) => i ? 55 + i * 40 : 0, c = n - 16;
  return `rgb(${level(Math.floor(c / 36))} ${level(Math.floor(c / 6) % 6)} ${level(c % 6)})`;
}

// Text as a terminal draws it, as elements: lines with colours, which can be selected, searched and
// read aloud. Colours come from classes and the CSSOM, which the page's policy allows, and go with the
// theme.

import { ansi, leastContrast, readable } from './colors.js';
import { h } from './dom.js';
import { newTerminal } from './screen.js';
import { settings } from './theme.js';
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
  const el = h('span', { class: JSON.parse(look)[2], 'data-look': look }, text);
  paint(el);
  return el;
}

/**
 * paint gives what has been drawn the colours of the theme, as readable as a terminal's own.
 * @param {HTMLElement} el
 */
function paint(el) {
  const [fg, bg, flags] = JSON.parse(el.dataset.look ?? ''), { colors, resolved } = settings;
  let text = color(fg) ?? String(colors.foreground), behind = color(bg) ?? String(colors.background);
  if (flags.includes('inverse')) [text, behind] = [behind, text];
  el.style.color = readable(text, behind, leastContrast[resolved]);
  el.style.backgroundColor = behind === colors.background ? '' : behind;
}

let theme = settings.resolved;
settings.addEventListener('change', () => {
  if (settings.resolved === theme) return;
  theme = settings.resolved;
  for (const el of document.querySelectorAll('[data-look]')) paint(/** @type {HTMLElement} */ (el));
});

/**
 * @param {string} name As lookOf has it.
 * @returns {string | undefined} #rrggbb; undefined: the theme's own
 */
function color(name) {
  const n = Number(name.slice(1));
  if (!name) return undefined;
  if (name.startsWith('p') && n < 16) return String(settings.colors[ansi[n]]);
  const level = (/** @type {number} */ i) => i ? 55 + i * 40 : 0, c = n - 16, grey = 8 + (n - 232) * 10;
  const rgb = name.startsWith('#') ? [n >> 16, n >> 8 & 255, n & 255] : n >= 232 ? [grey, grey, grey] :
    [level(Math.floor(c / 36)), level(Math.floor(c / 6) % 6), level(c % 6)];
  return '#' + rgb.map((v) => v.toString(16).padStart(2, '0')).join('');
}

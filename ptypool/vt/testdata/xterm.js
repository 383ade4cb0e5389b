// A second opinion on what terminal output looks like: reads one JSON object per
// line, {cols, rows, scrollback, steps}, feeds the steps ({data: base64} or {cols,
// rows}) to @xterm/headless and writes the screen as one JSON object per line.
'use strict';
const { Terminal } = require('@xterm/headless');
const { UnicodeGraphemesAddon } = require('@xterm/addon-unicode-graphemes');
const readline = require('readline');

function color(mode, value) {
  switch (mode) {
    case 0x1000000: case 0x2000000: return 'i' + value;
    case 0x3000000: return '#' + value.toString(16).padStart(6, '0');
  }
  return '-';
}

function attrs(c) {
  return (c.isBold() ? 'b' : '') + (c.isDim() ? 'f' : '') + (c.isItalic() ? 'i' : '') +
    (c.isUnderline() ? 'u' : '') + (c.isBlink() ? 'k' : '') + (c.isInverse() ? 'r' : '') +
    (c.isInvisible() ? 'v' : '') + (c.isStrikethrough() ? 's' : '') + (c.isOverline() ? 'o' : '');
}

function line(l, cols) {
  let out = '', last = '- - ';
  for (let x = 0; x < cols; x++) {
    const c = l.getCell(x);
    if (c.getWidth() === 0) continue;
    const style = color(c.getFgColorMode(), c.getFgColor()) + ' ' + color(c.getBgColorMode(), c.getBgColor()) + ' ' + attrs(c);
    if (style !== last) out += '{' + style + '}';
    last = style;
    out += (c.getChars() || ' ') + (c.getWidth() === 2 ? '>' : '');
  }
  return out;
}

function dump(t) {
  const b = t.buffer.active, n = t.buffer.normal;
  const rows = [], history = [];
  for (let y = 0; y < t.rows; y++) rows.push(line(b.getLine(b.baseY + y), t.cols));
  for (let y = 0; y < n.baseY; y++) history.push(n.getLine(y).translateToString(true));
  const m = t.modes;
  return {
    rows, history, x: b.cursorX, y: b.cursorY, alt: b.type === 'alternate',
    modes: {
      appCursor: m.applicationCursorKeysMode, appKeypad: m.applicationKeypadMode, paste: m.bracketedPasteMode,
      insert: m.insertMode, mouse: m.mouseTrackingMode, origin: m.originMode, focus: m.sendFocusMode, wrap: m.wraparoundMode,
    },
  };
}

// xterm.js throws from a timer on a few sequences; that ends the job, not the process.
let fail = () => {};
process.on('uncaughtException', (err) => fail(err));

async function run(job) {
  const t = new Terminal({ cols: job.cols, rows: job.rows, scrollback: job.scrollback, allowProposedApi: true });
  t.loadAddon(new UnicodeGraphemesAddon());
  const failed = new Promise((_, reject) => { fail = reject; });
  for (const step of job.steps) {
    if (step.data === undefined) t.resize(step.cols, step.rows);
    else await Promise.race([failed, new Promise((done) => t.write(Buffer.from(step.data, 'base64'), done))]);
  }
  return dump(t);
}

const input = readline.createInterface({ input: process.stdin });
let queue = Promise.resolve();
input.on('line', (text) => {
  queue = queue.then(() => run(JSON.parse(text))).catch((err) => ({ error: String(err) }))
    .then((screen) => process.stdout.write(JSON.stringify(screen) + '\n'));
});

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
    (c.isBlink() ? 'k' : '') + (c.isInverse() ? 'r' : '') +
    (c.isInvisible() ? 'v' : '') + (c.isStrikethrough() ? 's' : '') + (c.isOverline() ? 'o' : '');
}

// The rest is read from what is not API: underline style and colour, and the
// hyperlink, which the API shows as an underline.
const UNDERLINE = 0x10000000, EXTENDED = 0x10000000;

function extended(t, c) {
  const ext = c.bg & EXTENDED ? c.extended : { _ext: 0, urlId: 0 };
  const style = c.fg & UNDERLINE ? (ext._ext >> 26) & 7 || 1 : 0;
  const ul = style ? ext._ext & 0x3ffffff : 0x3ffffff; // shown with an underline only
  const link = ext.urlId ? t.links[ext.urlId] : '';
  return (style ? 'u' + style : '') + (ul === 0x3ffffff ? '' : color(ul & 0x3000000, ul & (ul < 0x3000000 ? 0xff : 0xffffff)).replace('-', '')) + link;
}

function line(t, l, cols) {
  let out = '', last = '- - ';
  for (let x = 0; x < cols; x++) {
    const c = l.getCell(x);
    if (c.getWidth() === 0) continue;
    const style = color(c.getFgColorMode(), c.getFgColor()) + ' ' + color(c.getBgColorMode(), c.getBgColor()) + ' ' + attrs(c) + extended(t, c);
    if (style !== last) out += '{' + style + '}';
    last = style;
    out += (c.getChars() || ' ') + (c.getWidth() === 2 ? '>' : '');
  }
  return out;
}

// private state: what the API does not show of modes and colours.
function state(t, palette) {
  const { coreService, coreMouseService, buffer } = t._core;
  const { cursorStyle, cursorBlink } = coreService.decPrivateModes;
  return {
    hidden: coreService.isCursorHidden,
    cursor: cursorStyle === undefined ? '' : cursorStyle + (cursorBlink ? ' blinking' : ''),
    encoding: coreMouseService.activeEncoding,
    tabs: Object.keys(buffer.tabs).map(Number).filter((x) => buffer.tabs[x] && x > 0 && x < t.cols).join(' '),
    palette: Object.keys(palette).map(Number).sort((a, b) => a - b).map((i) => i + '=' + palette[i].join(',')).join(' '),
  };
}

// watchColors keeps what a program has changed: 0 to 255 of the palette, then
// foreground, background and cursor. Type 1 sets, 2 restores.
function watchColors(t) {
  const palette = {};
  t._core._inputHandler.onColor((event) => {
    for (const e of event) {
      if (e.type === 1) palette[e.index] = e.color;
      else if (e.type === 2 && e.index !== undefined) delete palette[e.index];
      else if (e.type === 2) for (let i = 0; i < 256; i++) delete palette[i];
    }
  });
  return palette;
}

// watchLinks keeps the hyperlinks that xterm.js forgets with the lines they began in.
function watchLinks(t) {
  const links = {}, service = t._core._oscLinkService;
  const register = service.registerLink.bind(service);
  service.registerLink = (data) => {
    const id = register(data);
    links[id] = data.uri;
    return id;
  };
  return links;
}

function dump(t, palette) {
  const b = t.buffer.active, n = t.buffer.normal;
  const rows = [], history = [];
  for (let y = 0; y < t.rows; y++) rows.push(line(t, b.getLine(b.baseY + y), t.cols));
  for (let y = 0; y < n.baseY; y++) history.push(n.getLine(y).translateToString(true));
  const m = t.modes;
  return {
    rows, history, x: b.cursorX, y: b.cursorY, alt: b.type === 'alternate',
    modes: {
      appCursor: m.applicationCursorKeysMode, appKeypad: m.applicationKeypadMode, paste: m.bracketedPasteMode,
      insert: m.insertMode, mouse: m.mouseTrackingMode, origin: m.originMode, focus: m.sendFocusMode, wrap: m.wraparoundMode,
    },
    private: state(t, palette),
  };
}

// xterm.js throws from a timer on a few sequences; that ends the job, not the process.
let fail = () => {};
process.on('uncaughtException', (err) => fail(err));

async function run(job) {
  const t = new Terminal({ cols: job.cols, rows: job.rows, scrollback: job.scrollback, allowProposedApi: true });
  const palette = watchColors(t);
  t.links = watchLinks(t);
  t.loadAddon(new UnicodeGraphemesAddon());
  const failed = new Promise((_, reject) => { fail = reject; });
  for (const step of job.steps) {
    if (step.data === undefined) t.resize(step.cols, step.rows);
    else await Promise.race([failed, new Promise((done) => t.write(Buffer.from(step.data, 'base64'), done))]);
  }
  return dump(t, palette);
}

const input = readline.createInterface({ input: process.stdin });
let queue = Promise.resolve();
input.on('line', (text) => {
  queue = queue.then(() => run(JSON.parse(text))).catch((err) => ({ error: String(err) }))
    .then((screen) => process.stdout.write(JSON.stringify(screen) + '\n'));
});

// Colours of the terminals, which go with the page's own in app.css.

/** @typedef {import('../vendor/xterm.mjs').ITheme} ITheme */

/** @type {ITheme} */
const dark = {
  background: '#15171c', foreground: '#d5d9e0', cursor: '#8fb4ff', cursorAccent: '#15171c',
  selectionBackground: '#3f5486', selectionInactiveBackground: '#37466b',
  black: '#1d2027', red: '#ec7279', green: '#86c47e', yellow: '#dcb86c', blue: '#7fa6f0',
  magenta: '#c490e0', cyan: '#66c1c8', white: '#c5cad3',
  brightBlack: '#7d8593', brightRed: '#ff8d92', brightGreen: '#a3dd9a', brightYellow: '#f0d08a',
  brightBlue: '#9dbdff', brightMagenta: '#d9abf3', brightCyan: '#86dbe0', brightWhite: '#f2f4f7',
};

/** @type {ITheme} */
const light = {
  background: '#fdfdfc', foreground: '#2a2d33', cursor: '#2f5bd0', cursorAccent: '#fdfdfc',
  selectionBackground: '#b9cdf6', selectionInactiveBackground: '#cfdcf7',
  black: '#2a2d33', red: '#b3262e', green: '#28752d', yellow: '#8a5a00', blue: '#2552c4',
  magenta: '#8a35a8', cyan: '#0b6f78', white: '#6a7079',
  brightBlack: '#6d727b', brightRed: '#cf3a42', brightGreen: '#2b8432', brightYellow: '#996704',
  brightBlue: '#3b69de', brightMagenta: '#a24cc2', brightCyan: '#107e88', brightWhite: '#70757e',
};

/** @type {ITheme} */
const contrast = {
  ...dark, background: '#000000', foreground: '#ffffff', cursor: '#ffff00', cursorAccent: '#000000',
  selectionBackground: '#0050d0', selectionInactiveBackground: '#003a9a', brightBlack: '#b0b0b0',
  white: '#ffffff',
};

export const colors = { dark, light, contrast };

/**
 * The least contrast between letters and what is behind them (WCAG 2.2, 1.4.3 and 1.4.6): xterm.js
 * shifts a program's own colours until they have it.
 */
export const leastContrast = { dark: 4.5, light: 4.5, contrast: 7 };

/**
 * readable shifts a colour towards black or white until it can be read on another one. Both are
 * #rrggbb.
 * @param {string} text
 * @param {string} behind
 * @param {number} least The least contrast.
 */
export function readable(text, behind, least) {
  const far = luminance(channels(behind)) > 0.18 ? 0 : 255;
  const shifted = (/** @type {number} */ part) => channels(text).map((c) => c + (far - c) * part);
  let part = 0;
  while (part < 1 && contrastOf(shifted(part), channels(behind)) < least) part += 0.1;
  return part ? `rgb(${shifted(Math.min(1, part)).map(Math.round).join(' ')})` : text;
}

/** @param {string} color */
function channels(color) { return [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16)); }

/** @param {number[]} rgb The relative luminance, as WCAG 2.2 defines it. */
function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function contrastOf(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** @type {(keyof ITheme)[]} The names of the first 16 colours. */
export const ansi = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white', 'brightBlack',
  'brightRed', 'brightGreen', 'brightYellow', 'brightBlue', 'brightMagenta', 'brightCyan', 'brightWhite'];

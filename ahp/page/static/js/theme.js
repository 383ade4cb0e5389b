// Colours of the terminals, which follow the page's own, and settings of this browser.

/** @typedef {import('../vendor/xterm.mjs').ITheme} ITheme */

/** @type {ITheme} */
const dark = {
  background: '#15171c', foreground: '#d5d9e0', cursor: '#8fb4ff', cursorAccent: '#15171c',
  selectionBackground: '#3a4660', selectionInactiveBackground: '#2c3444',
  black: '#1d2027', red: '#ec7279', green: '#86c47e', yellow: '#dcb86c', blue: '#7fa6f0',
  magenta: '#c490e0', cyan: '#66c1c8', white: '#c5cad3',
  brightBlack: '#6b7280', brightRed: '#ff8d92', brightGreen: '#a3dd9a', brightYellow: '#f0d08a',
  brightBlue: '#9dbdff', brightMagenta: '#d9abf3', brightCyan: '#86dbe0', brightWhite: '#f2f4f7',
};

/** @type {ITheme} */
const light = {
  background: '#fdfdfc', foreground: '#2a2d33', cursor: '#2f5bd0', cursorAccent: '#fdfdfc',
  selectionBackground: '#cfdcf7', selectionInactiveBackground: '#e3e8f2',
  black: '#2a2d33', red: '#b3262e', green: '#28752d', yellow: '#8a5a00', blue: '#2552c4',
  magenta: '#8a35a8', cyan: '#0b6f78', white: '#8b9099',
  brightBlack: '#6d727b', brightRed: '#cf3a42', brightGreen: '#2f8a36', brightYellow: '#a06c06',
  brightBlue: '#3b69de', brightMagenta: '#a24cc2', brightCyan: '#12828c', brightWhite: '#c2c6cd',
};

/** @type {ITheme} */
const contrast = {
  ...dark, background: '#000000', foreground: '#ffffff', cursor: '#ffff00', cursorAccent: '#000000',
  selectionBackground: '#0050d0', brightBlack: '#b0b0b0', white: '#ffffff',
};

/** @type {(keyof ITheme)[]} The names of the first 16 colours. */
const ansi = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white', 'brightBlack', 'brightRed',
  'brightGreen', 'brightYellow', 'brightBlue', 'brightMagenta', 'brightCyan', 'brightWhite'];

const font = 'ui-monospace, "SF Mono", Menlo, "Cascadia Mono", Consolas, "DejaVu Sans Mono", ' +
  '"Liberation Mono", monospace';
const stored = 'termhost.settings';

/** @typedef {'system' | 'dark' | 'light' | 'contrast'} ThemeName */

/** Settings of this browser. "change" is dispatched when one has changed. */
class Settings extends EventTarget {
  /** @type {ThemeName} */
  theme = 'system';
  size = 14;
  font = font;

  constructor() {
    super();
    try {
      Object.assign(this, JSON.parse(localStorage.getItem(stored) ?? '{}'));
    } catch { /* what cannot be read is not needed */ }
    for (const q of [this.prefersDark, this.prefersContrast]) {
      q.addEventListener('change', () => this.apply());
    }
    this.apply();
  }

  prefersDark = matchMedia('(prefers-color-scheme: dark)');
  prefersContrast = matchMedia('(prefers-contrast: more)');

  /** @param {Partial<{theme: ThemeName, size: number}>} values */
  set(values) {
    Object.assign(this, values);
    localStorage.setItem(stored, JSON.stringify({ theme: this.theme, size: this.size }));
    this.apply();
  }

  get resolved() {
    if (this.theme !== 'system') return this.theme;
    if (this.prefersContrast.matches) return 'contrast';
    return this.prefersDark.matches ? 'dark' : 'light';
  }

  get colors() { return { dark, light, contrast }[this.resolved]; }

  apply() {
    document.documentElement.dataset.theme = this.resolved;
    ansi.forEach((name, i) =>
      document.documentElement.style.setProperty(`--ansi-${i}`, String(this.colors[name])));
    this.dispatchEvent(new Event('change'));
  }
}

export const settings = new Settings();

// Settings of this browser: how the page looks and behaves. They stand in localStorage, which has
// nothing else of the page, and hold for all its tabs.

import { ansi, colors, leastContrast } from './colors.js';

/** The letters where none are chosen, and where the chosen ones lack a character. */
const fonts = 'ui-monospace, "SF Mono", Menlo, "Cascadia Mono", Consolas, "DejaVu Sans Mono", ' +
  '"Liberation Mono", "termhost symbols", monospace';
const stored = 'termhost.settings';

/** The letters' size, in pixels. */
export const leastSize = 8;
export const mostSize = 32;
export const themes = ['system', 'light', 'dark', 'contrast'];
/** When the compose line and the row of keys are shown. */
export const keyRows = ['auto', 'always', 'never'];

const defaults = {
  theme: 'system', // one of themes
  size: 14,
  family: '', // names of fonts, as in CSS but without quotes
  blink: false, // the cursor
  commands: true, // are shown beside each terminal
  release: false, // closing a view hands back a keyboard that was taken there
  keys: 'auto', // one of keyRows
  option: false, // a Mac's Option key is Meta, and composes no characters
  notify: false, // when a terminal wants the person
  joined: false, // right-to-left text has its own order, and its letters are joined
  aloud: false, // screen readers are told what terminals print
};

/** @typedef {typeof defaults} Values */

/**
 * Settings dispatches "change" when one has changed, here or in another tab, and "changing" before
 * anything looks different.
 */
class Settings extends EventTarget {
  /** @type {Values} */
  values = { ...defaults };
  prefersDark = matchMedia('(prefers-color-scheme: dark)');
  prefersContrast = matchMedia('(prefers-contrast: more)');
  prefersStillness = matchMedia('(prefers-reduced-motion: reduce)');

  constructor() {
    super();
    this.load();
    for (const q of [this.prefersDark, this.prefersContrast, this.prefersStillness]) {
      q.addEventListener('change', () => this.apply());
    }
    addEventListener('storage', (e) => {
      if (e.key !== stored && e.key !== null) return;
      this.load();
      this.apply();
    });
    this.apply();
  }

  load() {
    try {
      this.values = { ...defaults, ...clean(JSON.parse(localStorage.getItem(stored) ?? '{}')) };
    } catch { /* what cannot be read is not needed */ }
  }

  /** @param {Partial<Values>} values */
  set(values) {
    Object.assign(this.values, clean(values));
    const changed = Object.entries(this.values).filter(([k, v]) => v !== defaults[/** @type {keyof Values} */ (k)]);
    localStorage.setItem(stored, JSON.stringify(Object.fromEntries(changed)));
    this.apply();
  }

  reset() { this.set(defaults); }

  /** The letters' size that the person has chosen, in pixels. */
  get size() { return this.values.size; }

  /** The letters, as CSS wants them. */
  get font() {
    const chosen = this.values.family.split(',').map((f) => f.trim()).filter(Boolean);
    return [...chosen.map((f) => `"${f}"`), fonts].join(', ');
  }

  /** The theme that is shown. */
  get resolved() {
    const { theme } = this.values;
    if (theme !== 'system') return /** @type {keyof colors} */ (theme);
    if (this.prefersContrast.matches) return 'contrast';
    return this.prefersDark.matches ? 'dark' : 'light';
  }

  get colors() { return colors[this.resolved]; }

  /** What a terminal's screen is drawn with, but for its size. */
  get drawing() {
    const cursorBlink = this.values.blink && !this.prefersStillness.matches;
    return { theme: this.colors, fontFamily: this.font, cursorBlink,
      minimumContrastRatio: leastContrast[this.resolved], screenReaderMode: this.values.aloud,
      macOptionIsMeta: this.values.option };
  }

  apply() {
    this.dispatchEvent(new Event('changing'));
    const { dataset, style } = document.documentElement;
    dataset.theme = this.resolved;
    if (this.values.joined) dataset.joined = '';
    else delete dataset.joined;
    ansi.forEach((name, i) => style.setProperty(`--ansi-${i}`, String(this.colors[name])));
    style.setProperty('--font', this.font);
    style.setProperty('--size', `${this.size}px`);
    this.dispatchEvent(new Event('change'));
  }
}

/**
 * clean leaves out what no setting can be.
 * @param {Record<string, any>} values
 * @returns {Partial<Values>}
 */
function clean(values) {
  /** @type {Record<string, any>} */
  const out = {};
  for (const [key, standard] of Object.entries(defaults)) {
    const value = values[key];
    if (typeof value === typeof standard) out[key] = value;
  }
  if (!themes.includes(out.theme)) delete out.theme;
  if (!keyRows.includes(out.keys)) delete out.keys;
  if ('size' in out) out.size = Math.min(mostSize, Math.max(leastSize, Math.round(out.size) || defaults.size));
  if ('family' in out) out.family = out.family.replace(/["'\\{};\u0000-\u001f]/g, '').slice(0, 200);
  return out;
}

export const settings = new Settings();

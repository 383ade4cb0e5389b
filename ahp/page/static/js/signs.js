// Texts that are typed, shown character by character. What would not be seen, or would act, is a sign,
// which looks different from the same characters meant literally. What agents want to type comes from
// the host in such parts (package ahp/visible); what was typed here is cut into them here.

import { h } from './dom.js';

/** @typedef {{text?: string, sign?: string}} Part */

/**
 * drawLines returns an element with all lines, which have numbers if there are several.
 * @param {Part[][]} lines
 */
export function drawLines(lines) {
  const width = `${String(lines.length).length}ch`;
  return h('div', { class: 'signs' }, ...lines.map((line, i) => {
    const number = lines.length > 1 && h('span', { class: 'number' }, String(i + 1));
    const el = h('div', {}, number, h('code', {}, ...line.map((p) =>
      p.sign !== undefined ? h('span', { class: 'sign' }, p.sign) : h('span', {}, p.text ?? ''))));
    el.style.setProperty('--number', width);
    return el;
  }));
}

/** Characters that are shown as signs; the same are left out of titles (see format.js). */
const special = /([\0-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb])/;

/**
 * linesOf cuts what a person has typed.
 * @param {string} text
 * @returns {Part[][]}
 */
export function linesOf(text) {
  return text.split(/(?<=\r\n|\r(?!\n)|\n)/).map((line) => line.split(special).filter(Boolean).map((part) =>
    special.test(part) ? { sign: signOf(part) } : { text: part }));
}

/** @param {string} char */
function signOf(char) {
  const code = char.charCodeAt(0);
  if (code < 0x20 || code === 0x7f) return '^' + String.fromCharCode(code ^ 0x40);
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

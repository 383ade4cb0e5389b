// Questions to the person, one at a time, and short notices.

import { button, h } from './dom.js';
import { oneLine } from './format.js';

/**
 * @typedef {{name: string, label: string, value?: string, hint?: string, placeholder?: string,
 *   pattern?: string}} Field
 */

/**
 * ask shows a dialog and returns the values of its fields; null: it was cancelled.
 * @param {{title: string, text?: string, detail?: string, fields?: Field[], yes: string,
 *   danger?: boolean}} o
 * @returns {Promise<Record<string, string> | null>}
 */
export function ask(o) {
  return new Promise((resolve) => {
    const inputs = (o.fields ?? []).map((f) => h('input', {
      name: f.name, value: f.value ?? '', placeholder: f.placeholder ?? '', autocomplete: 'off',
      spellcheck: false, pattern: f.pattern ?? '.*', title: f.hint ?? '', 'aria-label': f.label,
    }));
    const dialog = h('dialog', { 'aria-label': o.title },
      h('h2', {}, o.title),
      o.text && h('p', {}, o.text),
      o.detail && h('pre', { class: 'detail' }, o.detail),
      ...inputs.map((input, i) => h('label', {}, (o.fields ?? [])[i].label, input)),
      h('menu', { role: 'presentation' },
        button('Cancel', 'Cancel', () => dialog.close('')),
        h('button', { type: 'button', class: o.danger ? 'danger' : 'primary', onclick: yes }, o.yes)));
    function yes() {
      if (inputs.every((i) => i.reportValidity())) dialog.close('yes');
    }
    dialog.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' && !e.isComposing && e.target instanceof HTMLInputElement) yes();
    });
    dialog.addEventListener('close', () => {
      resolve(dialog.returnValue === 'yes' ?
        Object.fromEntries(inputs.map((i) => [i.name, i.value.trim()])) : null);
    });
    modal(dialog);
    (inputs[0] ?? dialog.querySelector('menu button:last-child'))?.focus();
  });
}

/**
 * modal shows a dialog until it is closed, which a click beside it does, too. The element that had
 * the focus has it again then.
 * @param {HTMLDialogElement} dialog
 */
export function modal(dialog) {
  dialog.addEventListener('keydown', (e) => e.stopPropagation());
  dialog.addEventListener('pointerdown', (e) => {
    const box = dialog.getBoundingClientRect();
    if (e.target === dialog && (e.clientX < box.left || e.clientX > box.right || e.clientY < box.top ||
        e.clientY > box.bottom)) dialog.close('');
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * @param {string} text
 * @param {number} lines
 */
export async function confirmPaste(text, lines) {
  return !!await ask({
    title: `Paste ${lines} lines?`, text: 'The program has not asked to be told what is pasted: each ' +
      'line may be run as it arrives.',
    detail: text.split(/\r\n|\r|\n/).slice(0, 6).map((l) => oneLine(l, 90)).join('\n') +
      (lines > 6 ? '\n\u2026' : ''),
    yes: 'Paste',
  });
}

/** How long a notice stays. */
const noticeTime = 5000;
const notices = h('div', { class: 'notices', role: 'status', 'aria-live': 'polite' });

/** @param {string} said */
export function notice(said) {
  const text = oneLine(said, 1000);
  if (!notices.isConnected) document.body.append(notices);
  retract(said);
  const el = h('p', {}, text);
  notices.append(el);
  setTimeout(() => el.remove(), noticeTime);
}

/**
 * retract takes a notice away before its time.
 * @param {string} said
 */
export function retract(said) {
  const text = oneLine(said, 1000);
  [...notices.children].find((n) => n.textContent === text)?.remove();
}

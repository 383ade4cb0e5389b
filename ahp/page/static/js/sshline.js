// Lines to type into a shell: what each is, and a button that copies it.

import { button, fill, h } from './dom.js';

/** What ssh calls the host, as far as the page can tell: its machine's name. */
let machine = 'HOST';
/** The page's role, if it is another one than ssh gives by itself. */
let role = '';

/**
 * tellHost tells whose page this is.
 * @param {string} name The machine's name; what no shell would take as a word is left out.
 * @param {string} as The page's role.
 */
export function tellHost(name, as) {
  machine = /^\w[\w.-]*$/.test(name) ? name : 'HOST';
  role = /^(admin|observer)$/.test(as) ? as : '';
}

/** sshName returns what the page calls the host in lines for a shell. */
export function sshName() { return machine; }

/** aboutName says what stands in such lines for the host. */
export function aboutName() {
  return machine === 'HOST' ? 'HOST is what ssh calls the host.' :
    `If ssh does not call the host ${machine}, put in what it does.`;
}

/** pageLine returns the line that opens this page anew. */
export function pageLine() {
  const here = location.origin + location.pathname;
  const url = here !== 'http://127.0.0.1:7722/' && /^https?:[\w.:%/-]+$/.test(here) ? ` --url ${here}` : '';
  return `ssh ${machine} page${url}${role && ` --role ${role}`}`;
}

/**
 * typed shows a line that is to be typed.
 * @param {string} line
 */
export function typed(line) {
  const code = h('code', {}, line);
  const copy = button(`Copy ${line}`, 'Copy', () => void copied(line, code).then((done) => {
    fill(copy, done ? 'Copied' : 'Selected');
    setTimeout(() => fill(copy, 'Copy'), 2000);
  }));
  return h('div', { class: 'typed' }, code, copy);
}

/**
 * copied copies a text, or selects it where the browser does not let the page copy.
 * @param {string} text
 * @param {HTMLElement} shown
 */
async function copied(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // there is none, as in pages that are not secure, or it is refused
    getSelection()?.selectAllChildren(shown);
    return false;
  }
}

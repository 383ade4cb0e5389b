// A key acts where it was pressed, and nowhere else. A handler of a key moves the focus: Enter closes
// a dialog, or chooses a terminal. What browsers then still send of the same key (keypress, input,
// keyup, and its repeats while it is held) goes to what has the focus now: a terminal would type it,
// and a button would be pressed. All of that is kept back here, before anything else of the page
// hears of it.

/** @type {Map<string, EventTarget | null>} By its code: where each key that is down was pressed. */
const down = new Map();
/** The key that was pressed last, to which the text that comes belongs; "": there is none. */
let latest = '';
/** The key code of a key that an input method has taken. */
const taken = 229;

/** watchPresses is to be called once, before anything else listens. */
export function watchPresses() {
  addEventListener('keydown', pressed, true);
  for (const type of ['keypress', 'beforeinput', 'input', 'compositionstart', 'compositionupdate', 'compositionend']) {
    addEventListener(type, (e) => { if (latest && elsewhere(latest, e)) keepBack(e); }, true);
  }
  addEventListener('keyup', released, true);
  // Where the pointer goes is where the person is, and a key may be let go in another window.
  addEventListener('pointerdown', () => { latest = ''; }, true);
  addEventListener('blur', (e) => { if (e.target === window) forget(); }, true);
}

/**
 * passOn has the key that is being pressed type into another element.
 * @param {HTMLElement} to
 */
export function passOn(to) {
  if (latest) down.set(latest, to);
  to.focus();
}

/** @param {KeyboardEvent} e */
function pressed(e) {
  const key = keyOf(e);
  if (e.repeat) {
    if (down.has(key) ? elsewhere(key, e) : e.keyCode !== taken) keepBack(e);
    return;
  }
  down.set(key, e.target);
  latest = key;
}

/** @param {KeyboardEvent} e */
function released(e) {
  const key = keyOf(e);
  if (down.has(key) && elsewhere(key, e)) keepBack(e);
  if (e.key === 'Meta') return forget(); // on a Mac the keys pressed with it are not told to be let go
  down.delete(key);
  if (latest === key) latest = '';
}

function forget() {
  down.clear();
  latest = '';
}

/** @param {KeyboardEvent} e */
function keyOf(e) { return e.code || e.key; }

/**
 * @param {string} key
 * @param {Event} e
 */
function elsewhere(key, e) { return down.get(key) !== e.target; }

/** @param {Event} e */
function keepBack(e) {
  e.preventDefault();
  e.stopImmediatePropagation();
}

// The keyboards of phones. Gboard and its like compose each word, and take up again what they have
// inserted: to correct it, to delete from it, to put a suggestion in its place. xterm.js then loses
// or doubles characters (xterm.js#3600). Here each change of what has been inserted is sent as it is
// made: DEL for what is gone from its end, then what is new.

/** The key code of a key that an input method has taken. */
const taken = 229;

export class SoftKeys {
  on = /Android/.test(navigator.userAgent);
  was = ''; // what had been inserted before the change that is being made

  /**
   * @param {HTMLElement} element What xterm.js is in: its own listeners come later.
   * @param {(data: string) => void} send
   */
  constructor(element, send) {
    this.send = send;
    element.addEventListener('keydown', (e) => this.key(e), true);
    element.addEventListener('beforeinput', (e) => {
      if (e.target instanceof HTMLTextAreaElement) this.was = e.target.value;
    }, true);
    element.addEventListener('input', (e) => {
      if (!this.on || !(e.target instanceof HTMLTextAreaElement)) return;
      e.stopPropagation();
      this.changed(e.target.value);
    }, true);
    for (const type of ['compositionstart', 'compositionupdate', 'compositionend']) {
      element.addEventListener(type, (e) => { if (this.on) e.stopPropagation(); }, true);
    }
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (e.keyCode === taken && e.key === 'Unidentified') this.on = true; // no desktop's does that
    if (!this.on) return;
    if (e.keyCode === taken) e.stopPropagation();
    else if (e.target instanceof HTMLTextAreaElement) e.target.value = ''; // the cursor may be elsewhere
  }

  /** @param {string} now */
  changed(now) {
    const before = [...this.was], after = [...now];
    let same = 0;
    while (same < before.length && before[same] === after[same]) same++;
    const data = '\x7f'.repeat(before.length - same) + after.slice(same).join('').replaceAll('\n', '\r');
    if (data) this.send(data);
  }
}

// Files for a terminal's program: pasted, dropped on its pane, or chosen. The host keeps them in a
// private folder of the terminal, and their paths are pasted, without Enter.

import { button, fill, h } from './dom.js';
import { bytes, oneLine } from './format.js';

/** @typedef {import('./terminal.js').TerminalView} TerminalView */

/** How large a file may be, in bytes; the host refuses larger ones. */
const most = 10 << 20;
/** How large the first piece is and the largest, in bytes. What is typed comes between two pieces. */
const firstPiece = 24 << 10, largestPiece = 384 << 10;
/** How long a piece may take for the next one to be larger, in ms. */
const quick = 250;

export class Upload {
  running = false;
  cancelled = false;

  /** @param {TerminalView} view */
  constructor(view) {
    this.view = view;
    this.state = h('span', { role: 'status' });
    this.element = h('p', { class: 'upload', hidden: true }, this.state,
      button('Cancel', 'Cancel', () => { this.cancelled = true; }));
    view.addEventListener('files', (e) => void this.give(/** @type {CustomEvent} */ (e).detail));
  }

  /** choose asks the person for files. */
  choose() {
    const input = h('input', { type: 'file', multiple: true, 'aria-label': 'Files for the program',
      onchange: () => void this.give([...input.files ?? []]) });
    input.click();
  }

  /**
   * give sends files to the host, one after the other, and then pastes their paths.
   * @param {File[]} files
   */
  async give(files) {
    const { view } = this;
    if (!files.length) return;
    if (!await view.keyboard.here()) return; // the person has been told who has it
    if (this.running) return view.notice('Another file is still on its way.');
    const large = files.find((f) => f.size > most);
    if (large) {
      return view.notice(`${oneLine(large.name, 60)} has more than ${bytes(most)}: copy it to the host with sftp.`);
    }
    this.running = true;
    this.cancelled = false;
    try {
      let paste = '';
      for (const f of files) paste += await this.send(f);
      await view.keyboard.paste(paste);
    } catch (e) {
      view.notice(/** @type {Error} */ (e).message);
    }
    this.running = false;
    this.element.hidden = true;
  }

  /**
   * send sends a file and returns what to paste.
   * @param {File} file
   */
  async send(file) {
    const data = new Uint8Array(await file.arrayBuffer());
    let drop = 0, size = firstPiece;
    for (let at = 0;;) {
      this.show(`${oneLine(file.name, 60)}: ${bytes(at)} of ${bytes(data.length)}`);
      const piece = data.subarray(at, at + size), more = at + size < data.length, began = performance.now();
      at += piece.length;
      if (this.cancelled) throw new Error(`${oneLine(file.name, 60)} was not sent.`);
      const answer = await this.view.connection.request('termhost/drop', { channel: this.view.uri, name: file.name,
        data: base64(piece), ...(more && { more }), ...(drop && { drop }) });
      if (!more) return String(answer.paste);
      drop = answer.drop;
      if (performance.now() - began < quick) size = Math.min(largestPiece, size * 2);
    }
  }

  /** @param {string} text */
  show(text) {
    this.element.hidden = false;
    fill(this.state, text);
  }
}

/** @param {Uint8Array} data */
function base64(data) {
  const chunk = 32 << 10;
  let text = '';
  for (let at = 0; at < data.length; at += chunk) text += String.fromCharCode(...data.subarray(at, at + chunk));
  return btoa(text);
}

/**
 * takesFiles has files that are dropped on a pane given to its terminal.
 * @param {HTMLElement} pane
 * @param {TerminalView} view
 */
export function takesFiles(pane, view) {
  pane.addEventListener('dragover', (e) => {
    if (!hasFiles(e)) return;
    e.preventDefault();
    pane.dataset.drop = 'file';
  });
  pane.addEventListener('drop', (e) => {
    if (!hasFiles(e)) return;
    e.preventDefault();
    view.dispatchEvent(new CustomEvent('files', { detail: [...e.dataTransfer?.files ?? []] }));
  });
}

/** @param {DragEvent} e */
function hasFiles(e) { return !!e.dataTransfer?.types.includes('Files'); }

/** keepPage keeps the browser from showing a file, in place of the page, that is dropped elsewhere. */
export function keepPage() {
  for (const type of /** @type {const} */ (['dragover', 'drop'])) {
    document.addEventListener(type, (e) => {
      if (!hasFiles(e) || e.defaultPrevented) return;
      e.preventDefault();
      if (e.dataTransfer) e.dataTransfer.dropEffect = 'none';
    });
  }
}

/**
 * filesOf returns the files that are pasted. Where there is a text, too, it is what is meant.
 * @param {DataTransfer | null} data
 */
export function filesOf(data) { return data?.getData('text/plain') ? [] : [...data?.files ?? []]; }

// Pictures that programs draw. On the host's screen, and so on this one, there is a box of characters
// in the place of each, which names it. Here it is drawn over the box, in exactly its cells, as long as
// the box stands there whole.

import { fill, h } from './dom.js';

/** What begins the text in a box, and the ID behind it. */
export const sign = '\u25a3';
const named = /\u25a3([a-z2-7]{4})(?![a-z2-7])/;

/** How many pictures are kept that are not in sight. */
const spare = 16;

/**
 * @typedef {{cols: number, rows: number, type: string, data: string}} PictureFile
 * @typedef {{file: PictureFile | null, els: HTMLImageElement[]}} Picture file null: it has not come,
 *   or there is none. els: for each of its boxes.
 */

export class Pictures {
  /** @type {Map<string, Picture>} By ID, in the order in which they were seen last. */
  all = new Map();
  tallest = 1; // of their boxes, in rows
  frame = 0;
  layer = h('div', { class: 'pictures' });

  /**
   * @param {import('./screen.js').Screen} screen
   * @param {(id: string) => Promise<PictureFile>} read Fails where there is no such picture.
   */
  constructor(screen, read) {
    this.screen = screen;
    this.read = read;
    screen.term.onRender(() => { if (screen.pictured) this.soon(); });
    screen.addEventListener('fit', () => { if (screen.pictured) this.soon(); });
  }

  soon() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** draw puts each picture where its box is. */
  draw() {
    const { term } = this.screen, buffer = term.buffer.active;
    const over = term.element?.querySelector('.xterm-screen');
    if (!(over instanceof HTMLElement)) return;
    const width = over.clientWidth / term.cols, height = over.clientHeight / term.rows;
    /** @type {HTMLImageElement[]} */
    const shown = [];
    /** @type {Map<Picture, number>} */
    const used = new Map();
    for (let y = Math.max(0, buffer.viewportY - this.tallest); y < buffer.viewportY + term.rows; y++) {
      const line = buffer.getLine(y);
      if (!line?.translateToString().includes(sign)) continue;
      for (let x = 0; x < term.cols; x++) {
        if (line.getCell(x)?.getChars() !== sign) continue;
        const id = named.exec(line.translateToString(false, x))?.[1];
        if (!id || line.translateToString(false, x).indexOf(id) !== 1) continue;
        const picture = this.find(id), { file, els } = picture, framed = x > 0 && line.getCell(x - 1)?.getChars() === '\u256d';
        const left = framed ? x - 1 : x;
        if (!file || y + file.rows <= buffer.viewportY || !this.whole(left, y, file)) continue;
        const n = used.get(picture) ?? 0;
        used.set(picture, n + 1);
        const el = els[n] ??= this.image(file, id);
        Object.assign(el.style, { left: `${left * width}px`, top: `${(y - buffer.viewportY) * height}px`,
          width: `${file.cols * width}px`, height: `${file.rows * height}px` });
        shown.push(el);
      }
    }
    if (this.layer.parentElement !== over) over.append(this.layer);
    if (shown.length !== this.layer.childElementCount || shown.some((el) => !el.parentElement)) fill(this.layer, ...shown);
    this.forget(shown.length);
  }

  /**
   * whole tells whether a box stands there as the host has drawn it, with nothing in it.
   * @param {number} left
   * @param {number} top
   * @param {PictureFile} file
   */
  whole(left, top, { cols, rows }) {
    const buffer = this.screen.term.buffer.active, right = left + cols;
    for (let i = 1; i < rows; i++) {
      const text = buffer.getLine(top + i)?.translateToString(false, left, right) ?? '';
      const inside = i < rows - 1 ? `\u2502${' '.repeat(cols - 2)}\u2502` : `\u2570${'\u2500'.repeat(cols - 2)}\u256f`;
      if (text !== inside) return false;
    }
    return true;
  }

  /** @param {string} id */
  find(id) {
    let p = this.all.get(id);
    if (!p) {
      p = { file: null, els: [] };
      void this.load(id, p);
    }
    this.all.delete(id);
    this.all.set(id, p); // it is the latest now
    return p;
  }

  /**
   * load asks for a picture. If there is none, its box stays.
   * @param {string} id
   * @param {Picture} p
   */
  async load(id, p) {
    try {
      const file = await this.read(id), el = this.image(file, id);
      await el.decode();
      p.els = [el];
      p.file = file;
      this.tallest = Math.max(this.tallest, file.rows);
      this.soon();
    } catch { /* there is none, or it cannot be drawn */ }
  }

  /**
   * @param {PictureFile} file
   * @param {string} id
   */
  image(file, id) {
    return h('img', { alt: 'A picture', draggable: false, 'data-picture': id, src: `data:${file.type};base64,${file.data}` });
  }

  /** @param {number} shown How many are in sight. */
  forget(shown) {
    for (const id of this.all.keys()) {
      if (this.all.size <= shown + spare) return;
      this.all.delete(id);
    }
  }
}

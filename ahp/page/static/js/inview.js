// How long something has stood on the screen as a person sees it: all of it in the window, in a tab
// that is shown, and with nothing over it.

/** How often it is looked at, in milliseconds. */
const every = 100;
/** How much a look counts for at most: a browser that is busy may not have drawn for longer. */
const counts = 150;
/** How far apart the points are that are looked at, in pixels: less than two characters. */
const apart = 12;
/** How many points are looked at, at most: then they are further apart. */
const mostPoints = 900;
/** How much of each side is left out, which has round corners, in pixels. */
const round = 8;

/** InView dispatches "look" after each look. */
export class InView extends EventTarget {
  stood = 0; // for how long, in milliseconds; 0: something of it is not seen now
  clear = false; // at the last look all of it was seen
  timer = 0;
  looked = 0;

  /** @param {HTMLElement} element */
  constructor(element) {
    super();
    this.element = element;
    this.hide = () => this.restart();
  }

  /** watch begins to look; what was seen before does not count. */
  watch() {
    this.restart();
    if (this.timer) return;
    this.looked = performance.now();
    this.timer = window.setInterval(() => this.look(), every);
    document.addEventListener('visibilitychange', this.hide);
  }

  end() {
    clearInterval(this.timer);
    this.timer = 0;
    this.restart();
    document.removeEventListener('visibilitychange', this.hide);
  }

  restart() {
    this.stood = 0;
    this.clear = false;
  }

  look() {
    const now = performance.now(), passed = Math.min(counts, now - this.looked), was = this.clear;
    this.looked = now;
    this.clear = seen(this.element);
    this.stood = this.clear && was ? this.stood + passed : 0;
    this.dispatchEvent(new Event('look'));
  }
}

/** @param {HTMLElement} el */
function seen(el) {
  if (document.hidden || !el.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
  const box = el.getBoundingClientRect(), v = window.visualViewport;
  const left = v?.offsetLeft ?? 0, top = v?.offsetTop ?? 0;
  const right = left + (v?.width ?? innerWidth), bottom = top + (v?.height ?? innerHeight);
  const slack = 1; // a fraction of a pixel is no part of it
  if (box.left < left - slack || box.top < top - slack || box.right > right + slack || box.bottom > bottom + slack) return false;
  for (const part of el.querySelectorAll('*')) { // none is cut by the element, but what scrolls
    if (part.closest('[data-scrolls] > *')) continue;
    const b = part.getBoundingClientRect();
    if (!b.width) continue; // it is hidden
    if (b.left < box.left - slack || b.right > box.right + slack || b.top < box.top - slack || b.bottom > box.bottom + slack) return false;
  }
  return !underNotice(box) && !covered(el, box);
}

/**
 * covered looks at points. What takes no clicks is not found in this way: see underNotice.
 * @param {HTMLElement} el
 * @param {DOMRect} box
 */
function covered(el, box) {
  const step = Math.max(apart, Math.sqrt(box.width * box.height / mostPoints));
  for (let y = box.top + round; y < box.bottom - round; y += step) {
    for (let x = box.left + round; x < box.right - round; x += step) {
      if (!el.contains(document.elementFromPoint(x, y))) return true;
    }
  }
  return false;
}

/** @param {DOMRect} box */
function underNotice(box) {
  return [...document.querySelectorAll('.notices > *')].some((n) => {
    const b = n.getBoundingClientRect();
    return b.left < box.right && b.right > box.left && b.top < box.bottom && b.bottom > box.top;
  });
}

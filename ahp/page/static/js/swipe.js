// Scrolling a terminal by finger, which xterm.js 6 leaves to others. What the program wants to know of
// is told to it as a wheel's turning.

/** How fast a finger must be for the lines to run on by themselves, in pixels per ms; what of it is left
 *  after a ms; and of what age a movement still counts, in ms. */
const least = 0.25, left = 0.996, fresh = 60;

/**
 * swipes scrolls by finger. At the first line the screen dispatches "older", whose detail is how many
 * pixels the finger wants to go on.
 * @param {import('./screen.js').Screen} screen
 */
export function swipes(screen) {
  const { term, element } = screen, still = matchMedia('(prefers-reduced-motion: reduce)');
  let y = 0, at = 0, speed = 0, rest = 0, frame = 0;

  /** @param {number} by In pixels; less than 0: further up. */
  const scroll = (by) => {
    const { active } = term.buffer, told = active.type === 'alternate' || term.modes.mouseTrackingMode !== 'none';
    const room = by < 0 ? -element.scrollTop : element.scrollHeight - element.clientHeight - element.scrollTop;
    if (Math.abs(room) >= 1 && (by < 0 || told || active.viewportY === active.baseY)) {
      element.scrollTop += by;
      return;
    }
    const cell = (element.querySelector('.xterm-screen')?.clientHeight ?? 0) / term.rows || 16;
    rest += by;
    const lines = Math.trunc(rest / cell);
    rest -= lines * cell;
    if (told) {
      for (let i = 0; i < Math.abs(lines); i++) {
        element.querySelector('.xterm-screen')?.dispatchEvent(new WheelEvent('wheel',
          { deltaY: Math.sign(lines), deltaMode: WheelEvent.DOM_DELTA_LINE, bubbles: true, cancelable: true, ...place }));
      }
    } else if (by < 0 && active.viewportY === 0) {
      screen.dispatchEvent(new CustomEvent('older', { detail: -by }));
    } else term.scrollLines(lines);
  };
  let place = { clientX: 0, clientY: 0 };
  element.addEventListener('touchstart', (e) => {
    cancelAnimationFrame(frame);
    const [t] = e.touches;
    [y, at, speed, rest] = [t.clientY, e.timeStamp, 0, 0];
    place = { clientX: t.clientX, clientY: t.clientY };
  }, { passive: true });
  element.addEventListener('touchmove', (e) => {
    if (e.touches.length !== 1) return;
    const by = y - e.touches[0].clientY, ms = Math.max(1, e.timeStamp - at);
    [y, at, speed] = [e.touches[0].clientY, e.timeStamp, by / ms];
    scroll(by);
  }, { passive: true });
  element.addEventListener('touchend', (e) => {
    if (still.matches || Math.abs(speed) < least || e.timeStamp - at > fresh) return;
    let last = performance.now();
    const run = (/** @type {number} */ now) => {
      const ms = Math.max(0, now - last);
      last = now;
      scroll(speed * ms);
      speed *= left ** ms;
      if (Math.abs(speed) > least / 5) frame = requestAnimationFrame(run);
    };
    frame = requestAnimationFrame(run);
  }, { passive: true });
}

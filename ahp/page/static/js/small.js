// Small screens and those that are touched, which behave differently in a few places.

import { settings } from './theme.js';

/** True while one pane at a time is shown. The same width stands in small.css. */
export const narrow = matchMedia('(max-width: 640px), (max-height: 480px) and (pointer: coarse)');
/** True where a finger points. */
export const coarse = matchMedia('(pointer: coarse)');

/** small says whether the screen is one on which no program is resized unless asked. */
export function small() { return narrow.matches || coarse.matches; }

/** keysWanted says whether the compose line and the row of keys are shown. */
export function keysWanted() {
  const { keys } = settings.values;
  return keys === 'always' || keys === 'auto' && small();
}

/** @param {() => void} changed Called when one of the above may have changed. */
export function whenResized(changed) {
  for (const q of [narrow, coarse]) q.addEventListener('change', changed);
}

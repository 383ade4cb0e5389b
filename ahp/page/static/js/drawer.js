// The list of terminals on a small screen, which is there when it is asked for.

import { button } from './dom.js';
import { icon } from './icons.js';
import { coarse, narrow, whenResized } from './small.js';

/**
 * drawer returns the button that shows the list, and hides it again.
 * @param {HTMLElement} app What the list lies above.
 * @param {import('./list.js').List} list
 * @param {import('./layout.js').Layout} layout
 */
export function drawer(app, list, layout) {
  /** @param {boolean} open */
  const set = (open) => {
    app.classList.toggle('with-list', open);
    toggle.setAttribute('aria-expanded', String(open));
    if (!open || !narrow.matches) return;
    list.tick(); // what the cards ask is not looked for while nobody sees them
    if (coarse.matches) list.rove.focus(); // a field would bring up the screen's keyboard
    else list.field.focus();
  };
  const toggle = button('Terminals', icon('list'), () => set(!app.classList.contains('with-list')), 'icon narrow-only');
  layout.addEventListener('change', () => set(!layout.current));
  whenResized(() => set(!layout.current));
  app.addEventListener('click', (e) => { if (e.target === app) set(false); });
  list.element.addEventListener('keydown', (e) => {
    if (e.key !== 'Escape' || e.defaultPrevented || !narrow.matches) return;
    e.preventDefault();
    set(false);
    toggle.focus();
  });
  set(!layout.current);
  return toggle;
}

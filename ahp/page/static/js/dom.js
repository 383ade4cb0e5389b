// Small helpers to make elements. Text always goes in as text: nothing here parses HTML.

/**
 * @typedef {Node | string | null | undefined | false} Child
 */

/**
 * h makes an element. Properties whose name begins with "on" are listeners; "class" and names with
 * a dash are attributes, others properties.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) el.addEventListener(name.slice(2), value);
    else if (name === 'class' || name === 'role' || name.includes('-')) {
      el.setAttribute(name, String(value));
    } else /** @type {any} */ (el)[name] = value;
  }
  fill(el, ...children);
  return el;
}

/**
 * writing tells whether the person writes into a field of the page, which then keeps the focus
 * whatever else happens.
 */
export function writing() {
  const at = document.activeElement;
  return !!at?.matches('input, textarea, select') && !at.closest('[data-terminal]');
}

/**
 * fill replaces what an element contains.
 * @param {Element} el
 * @param {...Child} children
 */
export function fill(el, ...children) {
  el.replaceChildren(.../** @type {(Node | string)[]} */ (
    children.filter((c) => c !== null && c !== undefined && c !== false)));
}

/**
 * @param {string} name The accessible name.
 * @param {Child} label What is shown.
 * @param {() => void} click
 * @param {string} [className]
 */
export function button(name, label, click, className = '') {
  return h('button', {
    type: 'button', class: className, title: name, 'aria-label': name === label ? null : name,
    onclick: click,
  }, label);
}

// xterm.js writes style elements and style attributes, which the page's policy (style-src 'self')
// forbids. This lends it elements whose text becomes a constructed style sheet, and sets style
// attributes through the CSSOM, which the policy allows.

/** lendStyles must be called before the first terminal is made. */
export function lendStyles() {
  const createElement = document.createElement.bind(document);
  /**
   * @param {string} tag
   * @param {ElementCreationOptions} [options]
   */
  const lend = (tag, options) => tag === 'style' ? styleElement(createElement('span')) :
    createElement(tag, options);
  document.createElement = /** @type {typeof document.createElement} */ (lend);
  const setAttribute = Element.prototype.setAttribute;
  /**
   * @this {Element}
   * @param {string} name
   * @param {string} value
   */
  Element.prototype.setAttribute = function set(name, value) {
    if (name === 'style' && this instanceof HTMLElement) this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
}

/**
 * styleElement makes an element behave as a style element does.
 * @param {HTMLElement} el
 */
function styleElement(el) {
  const sheet = new CSSStyleSheet();
  el.hidden = true;
  Object.defineProperty(el, 'textContent', {
    get: () => '',
    set: (css) => { sheet.replaceSync(css); },
  });
  const remove = el.remove.bind(el);
  el.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== sheet);
    remove();
  };
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  return el;
}

// Small drawings on buttons, which look the same whatever fonts there are.

const paths = {
  guard: 'M8 1.8l5 1.9v3.8c0 3.1-2 5.4-5 6.7-3-1.3-5-3.6-5-6.7V3.7z',
  list: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  keys: 'M1.5 4h13v8.5h-13zM4 6.8h.01M6.7 6.8h.01M9.3 6.8h.01M12 6.8h.01M5 9.8h6',
  settings: 'M2 5h6.2M12.8 5H14M8.2 5a2.3 2.3 0 1 0 4.6 0a2.3 2.3 0 1 0-4.6 0' +
    'M2 11h1.2M7.8 11H14M3.2 11a2.3 2.3 0 1 0 4.6 0a2.3 2.3 0 1 0-4.6 0',
};
const svg = 'http://www.w3.org/2000/svg';

/** @param {keyof paths} name */
export function icon(name) {
  const el = document.createElementNS(svg, 'svg'), path = document.createElementNS(svg, 'path');
  el.setAttribute('viewBox', '0 0 16 16');
  el.setAttribute('class', 'drawn');
  el.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', paths[name]);
  el.append(path);
  return el;
}

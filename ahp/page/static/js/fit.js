// The size of letters with which a terminal of a given size fits into its pane.

export const smallest = 8;

/**
 * fontSize returns the largest size, at most most, at which cols x rows fit into width x height.
 * ratio has what a cell takes at size 1.
 * @param {{cols: number, rows: number, width: number, height: number, most: number,
 *   ratio: {width: number, height: number}}} o
 */
export function fontSize(o) {
  const size = Math.min(o.width / (o.cols * o.ratio.width), o.height / (o.rows * o.ratio.height), o.most);
  return Math.max(smallest, Math.floor(size * 4) / 4);
}

/**
 * cellsAt returns how many cells there are room for at a size.
 * @param {{width: number, height: number, size: number, ratio: {width: number, height: number}}} o
 */
export function cellsAt(o) {
  return {
    cols: clamp(Math.floor(o.width / (o.size * o.ratio.width)), 2, 1000),
    rows: clamp(Math.floor(o.height / (o.size * o.ratio.height)), 1, 500),
  };
}

/**
 * @param {number} n
 * @param {number} low
 * @param {number} high
 */
function clamp(n, low, high) { return Math.min(high, Math.max(low, n)); }

/** How much something grows: the straight line with the least squares through its points. */

/** `y` for each 1 of `x`; NaN of less than two points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const count = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count;
  const products = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const squares = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return products / squares;
}

export interface Window {
  start: number;
  end: number;
}

/** Which rows of equal height are in sight, with some to spare on both sides. */
export function visible(scrollTop: number, viewport: number, rowHeight: number, total: number, spare = 8): Window {
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight);
  const shown = Math.ceil(viewport / rowHeight) + 1;
  const start = Math.max(0, Math.min(first - spare, total));
  return { start, end: Math.min(total, Math.max(start, first + shown + spare)) };
}

/** The scroll position that brings a row into sight with the least movement. */
export function reveal(
  row: number,
  rowHeight: number,
  scrollTop: number,
  viewport: number,
  margin = 0,
): number {
  const top = row * rowHeight - margin;
  const bottom = (row + 1) * rowHeight + margin;
  if (top < scrollTop) return Math.max(0, top);
  if (bottom > scrollTop + viewport) return bottom - viewport;
  return scrollTop;
}

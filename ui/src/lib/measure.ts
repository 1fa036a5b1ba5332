/** Widths of SVG text: it neither wraps nor shortens itself, and what stands beside it must know where it ends. */

let context: CanvasRenderingContext2D | null | undefined;
const known = new Map<string, number>();

export function textWidth(text: string, font: string): number {
  const key = `${font}|${text}`;
  const cached = known.get(key);
  if (cached !== undefined) return cached;
  context ??= document.createElement('canvas').getContext('2d');
  if (!context) return text.length * 7;
  context.font = font;
  const width = context.measureText(text).width;
  // Reason phrases come off the wire; a hostile peer must not fill the memory with them.
  if (known.size > 2000) known.clear();
  known.set(key, width);
  return width;
}

/** The longest beginning that fits, with an ellipsis when it is not all of it. */
export function fit(text: string, room: number, width: (text: string) => number): string {
  if (width(text) <= room) return text;
  let low = 1;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (width(`${text.slice(0, middle)}…`) <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}

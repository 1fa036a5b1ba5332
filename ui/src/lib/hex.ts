export interface HexLine {
  offset: string;
  hex: string;
  text: string;
}

/** null when it is not base64. */
export function decodeBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  } catch {
    return null;
  }
}

/** The classic dump, 16 bytes a line or 8 where there is less room. */
export function hexDump(data: Uint8Array, perLine = 16, maxBytes = 16_384): HexLine[] {
  const lines: HexLine[] = [];
  const end = Math.min(data.length, maxBytes);
  for (let at = 0; at < end; at += perLine) {
    const row = [...data.subarray(at, Math.min(at + perLine, end))];
    const pairs = row.map((b) => b.toString(16).padStart(2, '0'));
    lines.push({
      offset: at.toString(16).padStart(4, '0'),
      hex: (perLine > 8 ? `${pairs.slice(0, 8).join(' ').padEnd(23)}  ${pairs.slice(8).join(' ')}` : pairs.join(' ')).padEnd(perLine > 8 ? perLine * 3 : perLine * 3 - 1),
      text: row.map((b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : '.')).join(''),
    });
  }
  return lines;
}

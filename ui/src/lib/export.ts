import type { Row, Value } from './types';

export function asText(value: Value | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * RFC 4180. Wire data decides what a cell holds, and a spreadsheet runs a cell that begins with one of `= + - @`,
 * so text (never a number) that does gets an apostrophe in front.
 */
export function toCsv(columns: string[], rows: Row[]): string {
  const lines = [columns.map(quote).join(',')];
  for (const row of rows) lines.push(columns.map((name) => quote(disarm(row[name]))).join(','));
  return lines.join('\r\n') + '\r\n';
}

function disarm(value: Value | undefined): string {
  const text = asText(value);
  return typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toJson(rows: Row[]): string {
  return JSON.stringify(rows, null, 1) + '\n';
}

export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The click only queues the download; the object must outlive this turn.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

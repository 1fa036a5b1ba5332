/** The last search outlives its page: back from a call shows it at once, and a call can step to its neighbours. */
import type { Answer, CallRow, MessageRow } from '../lib/types';

export type ResultRow = CallRow | MessageRow;

export interface Results {
  key: string;
  limit: number;
  answer: Answer<ResultRow>;
  scrollTop: number;
  cursor: number;
}

let last: Results | null = null;

export function remember(results: Results): void {
  last = results;
}

export function recall(key: string): Results | null {
  return last?.key === key ? last : null;
}

export function keepPlace(scrollTop: number, cursor: number): void {
  if (last) {
    last.scrollTop = scrollTop;
    last.cursor = cursor;
  }
}

export function lastKey(): string {
  return last?.key ?? '';
}

/** The calls before and after this one in the list, newest first. */
export function neighbours(callId: string): { newer: string | null; older: string | null } {
  const ids = [...new Set(last?.answer.rows.map((row) => row.call_id).filter((id) => id !== null) ?? [])];
  const at = ids.indexOf(callId);
  if (at < 0) return { newer: null, older: null };
  return { newer: ids[at - 1] ?? null, older: ids[at + 1] ?? null };
}

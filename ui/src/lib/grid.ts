/** Columns of a table whose shape only the answer knows. */
import type { Column } from '../components/VirtualTable.svelte';
import { asText } from './export';
import type { Answer, Row } from './types';

const CHAR_PX = 7.4;
const SAMPLE = 60;

export function isNumeric(type: string): boolean {
  return /int|float|double|decimal|numeric|real/i.test(type) && !/interval|point/i.test(type);
}

/** As wide as the first rows need, within reason; what is longer shows in the record below. */
export function gridColumns(answer: Answer): Column[] {
  const last = answer.columns.length - 1;
  return answer.columns.map((column, index) => {
    let chars = column.name.length + 2;
    for (const row of answer.rows.slice(0, SAMPLE)) chars = Math.max(chars, Math.min(52, asText(row[column.name]).length));
    const right = isNumeric(column.type);
    return {
      key: column.name,
      label: column.name,
      title: column.type,
      min: Math.round(Math.max(56, chars * CHAR_PX + 16)),
      // The last one takes the room that is left, so that rows reach the edge.
      grow: index === last && !right ? 1 : 0,
      right,
      mono: true,
    };
  });
}

export interface Sort {
  column: string;
  down: boolean;
}

/** null sorts last both ways: it is never the answer to "which is largest". */
export function sortRows(rows: Row[], sort: Sort | null): Row[] {
  if (!sort) return rows;
  const sign = sort.down ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [a[sort.column] ?? null, b[sort.column] ?? null];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    if (typeof x === 'number' && typeof y === 'number') return sign * (x - y);
    const [s, t] = [asText(x), asText(y)];
    return s === t ? 0 : s < t ? -sign : sign;
  });
}

/** Down, up, as the server sent it. */
export function nextSort(sort: Sort | null, column: string): Sort | null {
  if (sort?.column !== column) return { column, down: true };
  return sort.down ? { column, down: false } : null;
}

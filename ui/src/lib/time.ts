/**
 * Times arrive as ISO 8601 in UTC with microseconds. `Date` keeps milliseconds, and two SIP messages are often
 * less than one apart, so the fraction is read from the text and carried beside it.
 */

const pad = (n: number, width = 2): string => String(n).padStart(width, '0');

/** Microseconds within the second. */
export function micros(iso: string): number {
  const fraction = /\.(\d{1,9})/.exec(iso)?.[1];
  return fraction ? Number(fraction.slice(0, 6).padEnd(6, '0')) : 0;
}

/** Unix milliseconds with the microseconds as fraction; NaN when it is not a time. */
export function unixMs(iso: string): number {
  const whole = Date.parse(iso.replace(/\.\d+/, ''));
  return whole + micros(iso) / 1000;
}

/** Local wall clock, `digits` of the fraction (0 to 6). */
export function clock(iso: string, digits = 3): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const whole = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return digits > 0 ? `${whole}.${pad(micros(iso), 6).slice(0, digits)}` : whole;
}

export function day(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** `09:41:54.123`; on another day the date takes the room of three digits. */
export function shortTime(iso: string, now: Date = new Date(), digits = 3): string {
  const today = day(now.toISOString());
  return day(iso) === today ? clock(iso, digits) : `${day(iso).slice(5)} ${clock(iso, Math.max(0, digits - 3))}`;
}

/** For a tooltip: both clocks in full. */
export function bothClocks(iso: string): string {
  return `${day(iso)} ${clock(iso, 6)} local\n${iso.replace('T', ' ').replace(/Z$/, '')} UTC`;
}

/** `4 s`; the future (a sender's clock is ahead) reads `in 4 s`. */
export function relative(iso: string, nowMs: number): string {
  const ms = nowMs - unixMs(iso);
  if (Number.isNaN(ms)) return '';
  const age = Math.abs(ms) / 1000;
  const [count, unit] =
    age < 60 ? [age, 's'] : age < 3600 ? [age / 60, 'min'] : age < 86400 ? [age / 3600, 'h'] : [age / 86400, 'd'];
  const text = `${Math.floor(count)} ${unit}`;
  return ms >= -1000 ? text : `in ${text}`;
}

/** A span of time for people: three significant digits, then clock-like. */
export function span(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '–';
  if (ms < 0) return `-${span(-ms)}`;
  if (ms === 0) return '0 ms';
  if (ms < 1) return `${trim(ms, ms < 0.1 ? 3 : 2)} ms`;
  if (ms < 10) return `${trim(ms, 2)} ms`;
  if (ms < 100) return `${trim(ms, 1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${trim(ms / 1000, ms < 9_995 ? 2 : 1)} s`;
  const total = Math.round(ms / 1000);
  const seconds = total % 60;
  const minutes = Math.floor(total / 60) % 60;
  const hours = Math.floor(total / 3600) % 24;
  const days = Math.floor(total / 86400);
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${pad(minutes)} min`;
  return `${minutes} min ${pad(seconds)} s`;
}

function trim(n: number, digits: number): string {
  return n.toFixed(digits).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

/** The value of `<input type="datetime-local" step="1">`, which knows only local time. */
export function toLocalInput(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : `${day(iso)}T${clock(iso, 0)}`;
}

/** RFC 3339 in UTC, as the interface wants it; '' when the field is empty or half filled. */
export function fromLocalInput(value: string): string {
  const date = new Date(value);
  return value === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString().replace(/\.000Z$/, 'Z');
}

/** Where everything of the call-flow ladder goes. Pure, so that it is tested without a browser. */
import { clock, span, unixMs } from './time';
import { messageTone, type Tone } from './tone';
import type { Call, CallMessage, Host } from './types';

export const ROW_HEIGHT = 34;
/** The arrow runs below its label. */
export const ARROW_Y = 23;
const EDGE = 78;
const MIN_GAP = 150;
/** On a telephone two hosts should be in sight. */
const NARROW = 480;
const NARROW_EDGE = 58;
const NARROW_GAP = 140;
const MAX_GAP = 420;
const SELF_LOOP = 46;
/** A pause a person would ask about. */
export const LONG_PAUSE_MS = 1000;

export interface Column {
  host: Host;
  x: number;
}

export interface LadderRow {
  /** Index into `call.messages`; stays the same when legs are hidden. */
  message: number;
  x1: number;
  x2: number;
  self: boolean;
  labelX: number;
  label: string;
  sdp: boolean;
  tone: Tone;
  retransmit: boolean;
  broken: boolean;
  /** Index of the Call-ID among the call's. */
  leg: number;
  time: string;
  delta: string;
  pause: boolean;
}

export interface Layout {
  columns: Column[];
  rows: LadderRow[];
  width: number;
  height: number;
}

export function layout(call: Call, width: number, hiddenLegs: ReadonlySet<string> = new Set()): Layout {
  const legs = new Map(call.call_ids.map((id, index) => [id, index]));
  const shown = call.messages.filter((m) => !hiddenLegs.has(m.call_id));
  const columns = place(usedHosts(call.hosts, shown), width);
  const xs = new Map(columns.map((c) => [c.host.id, c.x]));
  const rows: LadderRow[] = [];
  let previous: CallMessage | undefined;
  for (const m of shown) {
    const x1 = xs.get(m.from);
    const x2 = xs.get(m.to);
    // A host that the answer does not list cannot be drawn; the message stays in the count above.
    if (x1 === undefined || x2 === undefined) continue;
    const self = m.from === m.to;
    const gap = previous ? unixMs(m.ts) - unixMs(previous.ts) : 0;
    rows.push({
      message: call.messages.indexOf(m, previous ? rows.at(-1)!.message + 1 : 0),
      x1,
      x2: self ? x1 + SELF_LOOP : x2,
      self,
      labelX: self ? x1 + SELF_LOOP + 8 : (x1 + x2) / 2,
      label: title(m),
      sdp: m.media.length > 0 || /\(SDP\)/.test(m.label),
      tone: messageTone(m),
      retransmit: m.retransmit,
      broken: m.parse_error !== null,
      leg: legs.get(m.call_id) ?? 0,
      time: clock(m.ts, 3),
      delta: previous ? (gap === 0 ? '0 ms' : `${gap > 0 ? '+' : ''}${span(gap)}`) : '',
      pause: gap >= LONG_PAUSE_MS,
    });
    previous = m;
  }
  const last = columns.at(-1);
  return {
    columns,
    rows,
    width: Math.max(width, last ? last.x + EDGE : 0),
    height: rows.length * ROW_HEIGHT,
  };
}

/** How far to scroll sideways so that an arrow can be seen, or as much of it as there is room for. */
export function sideways(row: LadderRow, scrollLeft: number, viewport: number): number {
  const [left, right] = [Math.min(row.x1, row.x2) - 40, Math.max(row.x1, row.x2) + 40];
  if (left < scrollLeft || right - left > viewport) return Math.max(0, left);
  if (right > scrollLeft + viewport) return right - viewport;
  return scrollLeft;
}

/** Hiding a leg should give its room back. */
function usedHosts(hosts: Host[], messages: CallMessage[]): Host[] {
  const used = new Set<number>();
  for (const m of messages) used.add(m.from).add(m.to);
  return hosts.filter((h) => used.has(h.id));
}

function place(hosts: Host[], width: number): Column[] {
  const [edge, least] = width < NARROW ? [NARROW_EDGE, NARROW_GAP] : [EDGE, MIN_GAP];
  const room = (width - 2 * edge) / Math.max(1, hosts.length - 1);
  const gap = Math.min(MAX_GAP, Math.max(least, room));
  return hosts.map((host, index) => ({ host, x: edge + index * gap }));
}

/** The marker says SDP; the words need not. */
export function title(m: CallMessage): string {
  const label = m.label.replace(/\s*\(SDP\)\s*$/, '');
  if (label) return label;
  return m.is_request ? (m.method ?? 'unknown') : `${m.code ?? '???'} ${m.reason ?? ''}`.trim();
}

/** The letter that stands for a leg: A to Z, then numbers. */
export function legName(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : String(index + 1);
}

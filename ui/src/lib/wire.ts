/** What the wire page is asked to show, how that is written into the address, and the SQL that answers it. */
import { isRelative } from './query';
import { unixMs } from './time';
import type { RoundtripRow } from './types';

export const VIEWS = ['roundtrips', 'services', 'map', 'flows'] as const;
export type View = (typeof VIEWS)[number];

export const STATUSES = ['', 'ok', 'error', 'unanswered'] as const;
export type StatusFilter = (typeof STATUSES)[number];

/** Filters that are plain text in the address. */
export const TEXT_FILTERS = ['text', 'op', 'res', 'min', 'client', 'server', 'flow', 'trace'] as const;
export type TextFilter = (typeof TEXT_FILTERS)[number];

export interface WireState extends Record<TextFilter, string> {
  view: View;
  /** Protocols; none means all. */
  protocols: string[];
  status: StatusFilter;
  since: string;
  until: string;
  live: boolean;
  /** The roundtrip in the panel, as `rowKey` writes it. */
  at: string;
}

export const WIRE_PRESETS = [
  { since: '5m', label: '5 m', title: 'the last 5 minutes' },
  { since: '15m', label: '15 m', title: 'the last 15 minutes' },
  { since: '1h', label: '1 h', title: 'the last hour' },
  { since: '6h', label: '6 h', title: 'the last 6 hours' },
  { since: '24h', label: '24 h', title: 'the last 24 hours' },
  { since: '7d', label: '7 d', title: 'the last 7 days' },
] as const;

export const DEFAULT_RANGE = '15m';
/** Rows of the list; what is older is a matter of the time range. */
export const LIST_ROWS = 400;
/** Edges of the map, the busiest first. */
export const MAP_EDGES = 300;
const OPERATIONS = 500;

export function emptyWire(): WireState {
  return {
    view: 'roundtrips',
    protocols: [],
    status: '',
    text: '',
    op: '',
    res: '',
    min: '',
    client: '',
    server: '',
    flow: '',
    trace: '',
    since: DEFAULT_RANGE,
    until: '',
    live: true,
    at: '',
  };
}

const among = <T extends string>(list: readonly T[], value: string | null): T | undefined =>
  list.find((item) => item === value);

export function readWire(params: URLSearchParams): WireState {
  const state = emptyWire();
  state.view = among(VIEWS, params.get('view')) ?? state.view;
  state.status = among(STATUSES, params.get('status')) ?? '';
  state.protocols = (params.get('protocol') ?? '').split(',').filter(Boolean);
  for (const name of TEXT_FILTERS) state[name] = params.get(name) ?? '';
  state.since = params.get('since') ?? DEFAULT_RANGE;
  state.until = params.get('until') ?? '';
  state.live = params.get('live') !== '0';
  state.at = params.get('at') ?? '';
  return state;
}

/** Only what differs from the default, in a fixed order. */
export function writeWire(state: WireState): URLSearchParams {
  const params = new URLSearchParams();
  if (state.view !== 'roundtrips') params.set('view', state.view);
  if (state.protocols.length) params.set('protocol', state.protocols.join(','));
  if (state.status) params.set('status', state.status);
  for (const name of TEXT_FILTERS) {
    const value = state[name].trim();
    if (value) params.set(name, value);
  }
  if (state.since !== DEFAULT_RANGE) params.set('since', state.since);
  if (state.until) params.set('until', state.until);
  if (!state.live) params.set('live', '0');
  if (state.at) params.set('at', state.at);
  return params;
}

export function wireFilters(state: WireState): number {
  return (
    TEXT_FILTERS.filter((name) => state[name].trim() !== '').length +
    (state.status ? 1 : 0) +
    (state.protocols.length ? 1 : 0)
  );
}

/** The same range without any filter. */
export function withoutFilters(state: WireState): WireState {
  const { view, since, until, live } = state;
  return { ...emptyWire(), view, since, until, live };
}

export interface Range {
  fromMs: number;
  toMs: number;
  /** Whether the end moves with the clock. */
  open: boolean;
}

const UNIT_MS: Record<string, number> = { s: 1e3, m: 6e4, h: 3.6e6, d: 8.64e7, w: 6.048e8 };

export function rangeOf(state: Pick<WireState, 'since' | 'until'>, nowMs: number): Range {
  const open = state.until === '';
  const toMs = open ? nowMs : unixMs(state.until);
  const back = isRelative(state.since) ? parseInt(state.since, 10) * (UNIT_MS[state.since.slice(-1)] ?? 6e4) : NaN;
  const fixed = unixMs(state.since);
  const fromMs = Number.isFinite(back) ? nowMs - back : Number.isFinite(fixed) ? fixed : toMs - 9e5;
  return { fromMs, toMs: Number.isFinite(toMs) ? toMs : nowMs, open };
}

/** `100ms`, `1.5s`, `250us`, or a plain number of milliseconds, in nanoseconds; null when it is none of them. */
export function parseSpan(text: string): number | null {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|min)?\s*$/i.exec(text);
  if (!match) return null;
  const unit = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 6e10, min: 6e10 }[(match[2] ?? 'ms').toLowerCase()] ?? 1e6;
  return Math.round(Number(match[1]) * unit);
}

/** `10.0.0.1`, `10.0.0.1:80`, `[::1]:80` or `::1`. */
export function parseEndpoint(text: string): { ip: string; port: number | null } {
  const trimmed = text.trim();
  const bracket = /^\[([^\]]*)\](?::(\d+))?$/.exec(trimmed);
  if (bracket) return { ip: bracket[1]!, port: bracket[2] ? Number(bracket[2]) : null };
  const port = /^:(\d+)$/.exec(trimmed);
  if (port) return { ip: '', port: Number(port[1]) };
  const plain = /^([^:]+):(\d+)$/.exec(trimmed);
  if (plain) return { ip: plain[1]!, port: Number(plain[2]) };
  return { ip: trimmed, port: null };
}

/** Text inside single quotes; everything else in it is the server's business. */
export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A constant, so that the lake can leave out files by it. */
export const instant = (ms: number): string => `TIMESTAMPTZ ${quote(new Date(ms).toISOString())}`;

function side(name: 'client' | 'server', text: string): string[] {
  const { ip, port } = parseEndpoint(text);
  const out: string[] = [];
  if (ip) out.push(ip.endsWith('*') ? `starts_with(${name}_ip, ${quote(ip.slice(0, -1))})` : `${name}_ip = ${quote(ip)}`);
  if (port !== null) out.push(`${name}_port = ${port}`);
  return out;
}

function flowOf(text: string): string[] {
  const [client, server] = text.split('~');
  return [...side('client', client ?? ''), ...side('server', server ?? '')];
}

/** What every row must meet; `protocols` are left out where they are what is counted. */
export function conditions(state: WireState, range: Range, options: { protocols?: boolean; flows?: boolean } = {}): string[] {
  const out = [`ts >= ${instant(range.fromMs)}`];
  if (!range.open) out.push(`ts < ${instant(range.toMs)}`);
  if (options.protocols !== false && state.protocols.length) {
    out.push(`protocol IN (${state.protocols.map(quote).join(', ')})`);
  }
  if (state.client.trim()) out.push(...side('client', state.client));
  if (state.server.trim()) out.push(...side('server', state.server));
  if (state.flow.trim()) out.push(...flowOf(state.flow));
  if (options.flows) return out;
  if (state.status === 'ok') out.push("outcome = 'answered'", "status IS DISTINCT FROM 'error'");
  if (state.status === 'error') out.push("status = 'error'");
  if (state.status === 'unanswered') out.push("outcome = 'unanswered'");
  const words = state.text.trim().toLowerCase();
  if (words) out.push(`contains(lower(concat_ws(' ', operation, resource)), ${quote(words)})`);
  if (state.op.trim()) out.push(`operation = ${quote(state.op.trim())}`);
  if (state.res.trim()) out.push(`resource = ${quote(state.res.trim())}`);
  if (state.trace.trim()) out.push(`trace_id = ${quote(state.trace.trim())}`);
  const least = parseSpan(state.min);
  if (least !== null) out.push(`duration_ns >= ${least}`);
  return out;
}

const where = (list: string[]): string => `WHERE ${list.join('\n  AND ')}`;

const LIST = [
  'ts',
  'duration_ns',
  'first_byte_ns',
  'protocol',
  'operation',
  'resource',
  'outcome',
  'status',
  'status_code',
  'reason',
  'client_ip',
  'client_port',
  'server_ip',
  'server_port',
  'request_bytes',
  'response_bytes',
].join(', ');

const TOTALS = `count(*) AS n,
  count(*) FILTER (WHERE status = 'error') AS errors,
  count(*) FILTER (WHERE outcome = 'unanswered') AS unanswered,
  approx_quantile(duration_ns, 0.5) AS p50,
  approx_quantile(duration_ns, 0.95) AS p95,
  approx_quantile(duration_ns, 0.99) AS p99`;

const BEGUN = 'epoch_ms(min(ts)) AS begun';

export const sqlFor = {
  list: (state: WireState, range: Range): string =>
    `SELECT ${LIST}\nFROM roundtrips\n${where(conditions(state, range))}\nORDER BY ts DESC`,

  flows: (state: WireState, range: Range): string =>
    `SELECT *\nFROM flows\n${where(conditions(state, range, { flows: true }))}\nORDER BY ts DESC`,

  protocols: (state: WireState, range: Range): string => {
    const flows = state.view === 'flows';
    const list = conditions(state, range, { protocols: false, flows });
    if (flows) list.push('protocol IS NOT NULL');
    return `SELECT protocol, count(*) AS n\nFROM ${flows ? 'flows' : 'roundtrips'}\n${where(list)}\nGROUP BY protocol\nORDER BY n DESC`;
  },

  operations: (state: WireState, range: Range): string =>
    `SELECT protocol, operation, ${TOTALS},\n  ${BEGUN}\nFROM roundtrips\n${where(conditions(state, range))}\nGROUP BY protocol, operation\nORDER BY n DESC\nLIMIT ${OPERATIONS}`,

  edges: (state: WireState, range: Range): string =>
    `SELECT client_ip, server_ip, server_port, protocol, ${TOTALS},\n  ${BEGUN}\nFROM roundtrips\n${where(conditions(state, range))}\nGROUP BY client_ip, server_ip, server_port, protocol\nORDER BY n DESC\nLIMIT ${MAP_EDGES}`,

  slots: (state: WireState, range: Range, stepMs: number, split: boolean): string => {
    const by = split ? ', protocol' : '';
    return `SELECT epoch_ms(ts) // ${stepMs} AS slot${by}, ${TOTALS}\nFROM roundtrips\n${where(conditions(state, range))}\nGROUP BY slot${by}\nORDER BY slot`;
  },

  one: (at: string): string | null => {
    const key = parseKey(at);
    if (!key) return null;
    const list = [
      `ts = TIMESTAMPTZ ${quote(key.ts)}`,
      `client_ip = ${quote(key.clientIp)}`,
      `client_port = ${key.clientPort}`,
      key.durationNs === null ? 'duration_ns IS NULL' : `duration_ns = ${key.durationNs}`,
    ];
    if (key.operation) list.push(`operation = ${quote(key.operation)}`);
    return `SELECT *\nFROM roundtrips\n${where(list)}`;
  },
};

/** Names a roundtrip well enough to find it again; pipelined requests share time and flow, so length and verb help. */
export function rowKey(row: RoundtripRow): string {
  return [row.ts, row.client_ip, row.client_port, row.duration_ns ?? '', row.operation ?? ''].join('~');
}

export function parseKey(
  at: string,
): { ts: string; clientIp: string; clientPort: number; durationNs: number | null; operation: string } | null {
  const [ts, clientIp, port, duration, ...operation] = at.split('~');
  if (!ts || !clientIp || Number.isNaN(unixMs(ts)) || !/^\d+$/.test(port ?? '')) return null;
  return {
    ts,
    clientIp,
    clientPort: Number(port),
    durationNs: /^\d+$/.test(duration ?? '') ? Number(duration) : null,
    operation: operation.join('~'),
  };
}

/**
 * Over how many seconds a count becomes a rate: a capture that began in the middle of the range has no rows before,
 * and would look quieter than it is. Never less than a minute of them, or one lone row would look busy.
 */
export function rateSeconds(range: Range, rows: { begun?: number }[]): number {
  const whole = (range.toMs - range.fromMs) / 1000;
  const begun = Math.min(...rows.map((row) => row.begun ?? range.fromMs));
  const seen = Number.isFinite(begun) ? (range.toMs - begun) / 1000 : whole;
  return Math.max(1, Math.min(whole, Math.max(60, seen)));
}

const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400].map((s) => s * 1000);

/** At most about 150 points in a range. */
export function stepFor(range: Range): number {
  const span = Math.max(1, range.toMs - range.fromMs);
  return STEPS_MS.find((step) => span / step <= 150) ?? STEPS_MS.at(-1)!;
}

/** How long to wait before the sums are asked for again: dearer ranges less often. */
export function pauseFor(range: Range, elapsedMs: number): number {
  const span = range.toMs - range.fromMs;
  const base = span <= 9e5 ? 2000 : span <= 3.6e6 ? 4000 : 10_000;
  return Math.max(base, Math.min(60_000, elapsedMs * 6));
}

export interface Frame {
  /** Unix seconds of each slot. */
  t: number[];
  rate: number[];
  errors: number[];
  p50: (number | null)[];
  p95: (number | null)[];
  p99: (number | null)[];
}

/**
 * Slots in a row, the empty ones included: no request is a rate of 0, but no latency. Latencies in milliseconds. The
 * slot that is still being filled is left out.
 */
export function framesOf(
  slots: { slot: number; n: number; errors: number; unanswered: number; p50: number | null; p95: number | null; p99: number | null }[],
  range: Range,
  stepMs: number,
): Frame {
  const bySlot = new Map(slots.map((s) => [s.slot, s]));
  const first = Math.ceil(range.fromMs / stepMs);
  const last = Math.floor(range.toMs / stepMs) - (range.open ? 1 : 0);
  const out: Frame = { t: [], rate: [], errors: [], p50: [], p95: [], p99: [] };
  const ms = (ns: number | null | undefined): number | null => (ns === null || ns === undefined ? null : ns / 1e6);
  for (let slot = first; slot <= last && out.t.length < 2000; slot++) {
    const found = bySlot.get(slot);
    out.t.push((slot * stepMs) / 1000);
    out.rate.push(((found?.n ?? 0) * 1000) / stepMs);
    out.errors.push((((found?.errors ?? 0) + (found?.unanswered ?? 0)) * 1000) / stepMs);
    out.p50.push(ms(found?.p50));
    out.p95.push(ms(found?.p95));
    out.p99.push(ms(found?.p99));
  }
  return out;
}

/** The command that writes the packets of a roundtrip to a file, for a shell. */
export function packetsCommand(row: {
  ts: string;
  last_byte: string | null;
  transport: string;
  client_ip: string;
  client_port: number;
  server_ip: string;
  server_port: number;
  vlan: number | null;
}): string {
  // A millisecond on both sides takes the acknowledgements along.
  const at = (iso: string, by: number): string => {
    const us = Math.round(unixMs(iso) * 1000) + by * 1000;
    const whole = new Date(Math.floor(us / 1000)).toISOString().slice(0, 19);
    return `${whole}.${String(((us % 1e6) + 1e6) % 1e6).padStart(6, '0')}Z`;
  };
  const ends = `${row.transport} and host ${row.client_ip} and port ${row.client_port} and host ${row.server_ip} and port ${row.server_port}`;
  const filter = row.vlan === null ? ends : `vlan ${row.vlan} and ${ends}`;
  return `wirelake packets --from PACKETS_DIR --since ${at(row.ts, -1)} --until ${at(row.last_byte ?? row.ts, 1)} --filter '${filter}' --write roundtrip.pcap`;
}

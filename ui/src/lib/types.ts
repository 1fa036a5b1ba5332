/** The shapes the REST interface answers with. */

export interface Health {
  status: 'ok' | 'degraded';
  version: string;
  uptime_s: number;
  reasons: string[];
}

export interface NamedCount {
  name: string;
  count: number;
  help: string;
}

export interface Drop {
  stage: string;
  reason: string;
  count: number;
  help: string;
}

export interface LedgerCheck {
  name: string;
  left: number;
  right: number;
  ok: boolean;
  meaning: string;
}

export interface Ledger {
  since: string;
  window_s: number;
  balanced: boolean;
  in: Record<string, number>;
  out: Record<string, number>;
  drops: Drop[];
  drops_total: number;
  in_flight: number;
  store: { accepted: number; durable: number; hot: number; building: number; dropped: number };
  notices: NamedCount[];
  checks: LedgerCheck[];
  /** The books of capture; absent while it is off. */
  capture?: CaptureLedger;
}

/** A stage of a running server, over some seconds. */
export interface StageLine {
  stage: string;
  threads: string;
  activity: 'work' | 'idle' | 'held';
  /** Of the time of its threads, 0 to 1. */
  share: number;
  share_of_busiest: number;
  units_per_s: number;
  batch: number | null;
  ns_per_unit: number | null;
  unit: string;
  queue: { length: number; limit: number; unit: string } | null;
  headroom: number | null;
  help: string;
}

export interface CrewLine {
  threads: string;
  count: number;
  busy: number;
  held: number;
  headroom: number;
}

/** Where time went, and what was the limit. */
export interface TimeReport {
  seconds: number;
  stage: string | null;
  limited: boolean;
  why: string;
  datagrams_lost: number;
  frames_lost: number;
  threads: CrewLine[];
  stages: StageLine[];
}

export interface Bottleneck extends TimeReport {
  remedies: { what: string; command: string | null }[];
  since_start: TimeReport;
}

export interface CaptureLedger {
  balanced: boolean;
  frames: {
    seen: number;
    source_drops: number;
    taken: number;
    bytes: number;
    filtered: number;
    unknown_link: number;
    refused: number;
  };
  packets: {
    taken: number;
    segments: number;
    datagrams: number;
    other: number;
    fragments: number;
    reassembled: number;
    retransmitted: number;
    out_of_order: number;
  };
  flows: { opened: number; opened_middle: number; closed: Record<string, number>; open: number };
  bytes: { payload: number; delivered: number; repeated: number; missing: number; unknown: number };
  roundtrips: {
    answered: number;
    unanswered: number;
    orphan: number;
    one_way: number;
    total: number;
    rows: number;
  };
  drops: { stage: string; reason: string; count: number }[];
  gaps: Record<string, number>;
  decode_errors: Record<string, number>;
  checks: LedgerCheck[];
}

export interface RatePoint {
  t: number;
  messages: number;
  bytes: number;
  drops: number;
}

export interface Rate {
  interval_ms: number;
  points: RatePoint[];
}

export interface TableInfo {
  name: string;
  doc: string;
  columns: { name: string; type: string; doc: string }[];
  rows: number;
  files: number;
  hot_rows: number;
}

export interface Scan {
  table: string;
  files: number;
  files_scanned: number;
  pruned_by_time: number;
  pruned_by_bloom: number;
  hot_rows: number;
}

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
export type Row = Record<string, Value>;

export interface Answer<R = Row> {
  columns: { name: string; type: string }[];
  rows: R[];
  row_count: number;
  truncated: boolean;
  elapsed_ms: number;
  scan: Scan[];
}

export interface MessageRow {
  ts: string;
  call_id: string | null;
  cid: string | null;
  method: string | null;
  code: number | null;
  reason: string | null;
  from_user: string | null;
  from_host: string | null;
  to_user: string | null;
  to_host: string | null;
  src_ip: string;
  src_port: number;
  dst_ip: string;
  dst_port: number;
  transport: string | null;
  node_id: number | null;
  node_name: string | null;
  user_agent: string | null;
  is_request: boolean;
  parse_error: string | null;
}

export interface CallRow {
  first_ts: string;
  last_ts: string;
  duration_ms: number;
  call_id: string;
  method: string | null;
  from_user: string | null;
  from_host: string | null;
  to_user: string | null;
  to_host: string | null;
  src_ip: string;
  dst_ip: string;
  messages: number;
  code: number | null;
  reason: string | null;
  state: string;
  node_name: string | null;
}

export interface Host {
  id: number;
  ip: string;
  ports: number[];
  name: string | null;
}

export interface CallMessage {
  index: number;
  ts: string;
  delta_ms: number;
  from: number;
  to: number;
  src_ip: string;
  src_port: number;
  dst_ip: string;
  dst_port: number;
  transport: string | null;
  is_request: boolean;
  method: string | null;
  code: number | null;
  reason: string | null;
  label: string;
  cseq: number | null;
  call_id: string;
  from_user: string | null;
  to_user: string | null;
  from_tag: string | null;
  to_tag: string | null;
  user_agent: string | null;
  media: { kind: string; ip: string; port: number }[];
  node_id: number | null;
  node_name: string | null;
  parse_error: string | null;
  size: number;
  retransmit: boolean;
  payload: string;
  payload_base64?: string | null;
}

export interface Call {
  call_id: string;
  call_ids: string[];
  cids: string[];
  first_ts: string;
  last_ts: string;
  duration_ms: number;
  state: string;
  from: string | null;
  to: string | null;
  setup_ms: number | null;
  talk_ms: number | null;
  truncated: boolean;
  hosts: Host[];
  messages: CallMessage[];
}

/** What a list of roundtrips shows; the panel asks for the whole row. */
export interface RoundtripRow {
  ts: string;
  duration_ns: number | null;
  first_byte_ns: number | null;
  protocol: string;
  operation: string | null;
  resource: string | null;
  outcome: string;
  status: string | null;
  status_code: string | null;
  reason: string | null;
  client_ip: string;
  client_port: number;
  server_ip: string;
  server_port: number;
  request_bytes: number | null;
  response_bytes: number | null;
}

export interface RoundtripDetail extends RoundtripRow {
  first_byte: string | null;
  last_byte: string | null;
  error: string | null;
  confidence: string;
  transport: string;
  direction: string;
  trace_id: string | null;
  span_id: string | null;
  call_id: string | null;
  vlan: number | null;
  notices: string | null;
  attributes: string | null;
}

export interface FlowRow {
  ts: string;
  last: string;
  duration_ns: number;
  transport: string;
  client_ip: string;
  client_port: number;
  server_ip: string;
  server_port: number;
  protocol: string | null;
  visibility: string;
  start: string | null;
  ended: string;
  roundtrips: number;
  client_rtt_us: number | null;
  server_rtt_us: number | null;
  client_packets: number;
  server_packets: number;
  client_bytes: number;
  server_bytes: number;
  client_retransmits: number;
  server_retransmits: number;
  client_gap_bytes: number;
  server_gap_bytes: number;
  gaps: number;
  zero_windows: number;
  resets: number;
  decode_errors: number;
  last_error: string | null;
  attributes: string | null;
}

/** Roundtrips that have something in common, added up. */
export interface Totals {
  n: number;
  errors: number;
  unanswered: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

export interface OperationRow extends Totals {
  /** The oldest of them, Unix milliseconds. */
  begun?: number;
  protocol: string;
  operation: string | null;
}

export interface EdgeRow extends Totals {
  /** The oldest of them, Unix milliseconds. */
  begun?: number;
  client_ip: string;
  server_ip: string;
  server_port: number;
  protocol: string;
}

export interface SlotRow extends Totals {
  slot: number;
  protocol?: string;
}

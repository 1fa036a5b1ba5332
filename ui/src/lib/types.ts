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

/** What the short labels of roundtrips and flows mean, in words. A label that is not known here is shown as it is. */

/** Protocols with a colour of their own; the style sheet holds the colours. */
const PROTOCOLS = ['http', 'http2', 'grpc', 'redis', 'mysql', 'postgresql', 'mongodb', 'kafka', 'amqp', 'dns', 'sip', 'rtp', 'tls'];

export function protocolClass(protocol: string | null | undefined): string {
  return `p-${protocol && PROTOCOLS.includes(protocol) ? protocol : 'other'}`;
}

export const CONFIDENCE: Record<string, string> = {
  exact: 'Every byte of it was seen; request and response belong together.',
  late_join: 'The connection was under way when the capture began, so the request may have begun before.',
  after_gap: 'Bytes of this connection are missing before it. It was paired from a clean start behind the gap.',
};

export const OUTCOME: Record<string, string> = {
  answered: 'The response was seen.',
  unanswered: 'The request was seen and no response.',
  orphan: 'A response whose request was not seen.',
  one_way: 'A message that expects no answer.',
};

export const REASON: Record<string, string> = {
  gap: 'bytes of the connection are missing',
  closed: 'the connection was closed first',
  reset: 'the connection was reset first',
  timeout: 'none came within the time limit',
  evicted: 'the flow made room for others',
  capture_ended: 'the capture ended first',
  cancelled: 'the client gave up',
};

export const NOTICE: Record<string, string> = {
  text_cut: 'A text is longer than capture.text_bytes; its beginning is kept.',
  unknown: 'A part of it is of a kind that the decoder does not know.',
  redacted: 'A password, token or the like was replaced.',
  malformed: 'A part of it breaks the rules of the protocol; the rest was read.',
  fields_cut: 'It has more fields than a row keeps.',
};

export const VISIBILITY: Record<string, string> = {
  plain: 'Readable.',
  tls: 'Encrypted with TLS: only the handshake can be read.',
  websocket: 'Upgraded to WebSocket; its messages are not decoded.',
  compressed: 'Compressed by the protocol; its messages cannot be read.',
  replication: 'A replication stream, not requests and responses.',
  unreadable: 'The decoder met an error it could not recover from.',
  unknown: 'No decoder recognises the first bytes. A rule (capture.rules) can name the protocol.',
  silent: 'No payload was sent: a scan, a health check or an idle connection.',
};

export const ENDED: Record<string, string> = {
  fin: 'closed by both sides',
  reset: 'reset',
  timeout: 'no packet for long',
  evicted: 'made room for others',
  stopped: 'the capture ended first',
};

const DROP: Record<string, string> = {
  'capture/source': 'The ring of the kernel was full. Raise capture.ring_mib or capture.shards, or narrow capture.filter.',
  'capture/unknown_link_type': 'A link type that is not read.',
  'wire/truncated': 'Shorter than its headers say.',
  'wire/cut': 'The snapshot length cut its headers.',
  'wire/not_ip': 'Neither IPv4 nor IPv6: ARP, LLDP and the like.',
  'wire/too_deep': 'Tunnels within tunnels beyond the limit.',
  'flow/stray': 'A segment without payload that belongs to no flow.',
  'flow/after_fin': 'Data beyond the end that its sender declared.',
  'flow/out_of_window': 'A segment far beyond what its receiver allowed.',
  'flow/implausible_reset': 'A reset that its receiver would not take.',
  'flow/implausible_syn': 'A SYN that does not belong to the live flow of its addresses.',
  'flow/reset_payload': 'Words for people in a reset, not data of the connection.',
  'flow/fragment_duplicate': 'Every byte of a fragment was there before.',
  'flow/fragment_timeout': 'A datagram waited too long for the rest of its fragments.',
  'flow/fragment_overlap': 'IPv6 fragments overlap (RFC 5722).',
  'flow/fragment_budget': 'The budget of fragments was met.',
};

export const dropWords = (stage: string, reason: string): string => DROP[`${stage}/${reason}`] ?? '';

export const GAP: Record<string, string> = {
  cut: 'the snapshot length cut them off',
  acked: 'acknowledged by their receiver, and not captured',
  hold: 'what follows them had waited long enough',
  budget: 'a budget of held bytes was met',
  close: 'the flow closed',
};

/** `attributes` is a JSON object written by the server; anything else is shown as text. */
export function attributesOf(text: string | null | undefined): [string, string][] {
  if (!text) return [];
  try {
    const value: unknown = JSON.parse(text);
    if (!value || typeof value !== 'object' || Array.isArray(value)) return [['', text]];
    return Object.entries(value).map(([name, v]) => [name, typeof v === 'string' ? v : JSON.stringify(v, null, 1)]);
  } catch {
    return [['', text]];
  }
}

/** The one attribute of a flow that tells what it is. */
export function flowNote(attributes: string | null): string {
  const all = new Map(attributesOf(attributes));
  return all.get('tls.client.server_name') ?? all.get('db.namespace') ?? all.get('server.address') ?? '';
}

/** Nanoseconds for people: three significant digits. */
export function took(ns: number | null | undefined): string {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return '–';
  const units: [number, string][] = [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'µs'],
    [1, 'ns'],
  ];
  const [size, unit] = units.find(([s]) => ns >= s * 0.9995) ?? [1, 'ns'];
  const value = ns / size;
  return `${value >= 99.95 || unit === 'ns' ? Math.round(value) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2)} ${unit}`;
}

/** Length of a bar in percent: 10 µs is nothing, 10 s is all, each factor of ten takes as much. */
export function barShare(ns: number | null): number {
  if (ns === null || ns <= 1e4) return ns === null ? 0 : 2;
  return Math.min(100, Math.max(2, (Math.log10(ns / 1e4) / 6) * 100));
}

/** Good, doubtful or bad: what a share of errors deserves. One in two hundred is noise on most networks. */
export function errorTone(bad: number, all: number): 'ok' | 'client' | 'server' {
  const share = all > 0 ? bad / all : 0;
  return share < 0.005 ? 'ok' : share < 0.05 ? 'client' : 'server';
}

export function percent(part: number, whole: number): string {
  if (whole <= 0 || part <= 0) return '0 %';
  const value = (part / whole) * 100;
  return value < 0.1 ? '< 0.1 %' : value < 10 ? `${value.toFixed(1)} %` : `${Math.round(value)} %`;
}

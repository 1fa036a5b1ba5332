/** Rate, ledger, tables and SQL as a running server would answer. */
import { rng } from './rng.mjs';

export function rate(nowMs) {
  const end = Math.floor(nowMs / 1000);
  const points = [];
  for (let t = end - 299; t <= end; t++) {
    const wave = 4200 + 900 * Math.sin(t / 37) + 380 * Math.sin(t / 7.3) + rng(t).int(0, 260);
    const messages = Math.round(wave);
    points.push({ t, messages, bytes: messages * 742, drops: t % 131 < 6 ? (t % 131) * 14 + 9 : 0 });
  }
  return { interval_ms: 1000, points };
}

export function ledger(startMs, nowMs, balanced) {
  const s = Math.floor((nowMs - startMs) / 1000) + 5400;
  const udp = s * 4200;
  const tcp = s * 61;
  const kernel = 1210;
  const decode = 42;
  const total = udp + tcp + kernel;
  const drops = kernel + decode;
  const rows = total - drops;
  const hot = 31_400;
  const missing = balanced ? 0 : 17;
  return {
    since: new Date(nowMs - s * 1000).toISOString(),
    window_s: s,
    balanced,
    in: { hep_udp: udp, hep_tcp: tcp, kernel_drops: kernel, refused: 0, unread: 0, total },
    out: { sip: rows - 8800 - missing, qos: 7300, hep: 1500, total: rows - missing },
    drops: [
      { stage: 'listen', reason: 'kernel_buffer', count: kernel, help: 'The socket buffer was full. Raise net.core.rmem_max.' },
      { stage: 'envelope', reason: 'hep_malformed', count: decode, help: 'The datagram is not HEP, or its lengths do not add up.' },
    ],
    drops_total: drops,
    in_flight: 0,
    store: { accepted: rows - missing, durable: rows - missing - hot - 900, hot, building: 900, dropped: 0 },
    notices: [{ name: 'sip_unparsed', count: 3, help: 'Stored with their bytes and an error, because no SIP start line was found.' }],
    checks: [
      { name: 'envelopes', left: total, right: total - missing, ok: balanced, meaning: 'received + lost in the kernel = rows + drops + in flight' },
      { name: 'store', left: rows - missing, right: rows - missing, ok: true, meaning: 'accepted = durable + hot + building + dropped' },
    ],
  };
}

const COLUMNS = [
  ['ts', 'TIMESTAMP_NS', 'When the message was on the wire, UTC.'],
  ['call_id', 'VARCHAR', 'Call-ID header.'],
  ['cid', 'VARCHAR', 'Correlation id of the envelope.'],
  ['method', 'VARCHAR', 'Method; of a response, the one in CSeq.'],
  ['code', 'SMALLINT', 'Response code.'],
  ['reason', 'VARCHAR', 'Reason phrase.'],
  ['from_user', 'VARCHAR', 'User part of From.'],
  ['from_host', 'VARCHAR', 'Host part of From.'],
  ['to_user', 'VARCHAR', 'User part of To.'],
  ['src_ip', 'VARCHAR', 'Sender.'],
  ['src_port', 'INTEGER', 'Sender.'],
  ['dst_ip', 'VARCHAR', 'Receiver.'],
  ['user_agent', 'VARCHAR', 'User-Agent or Server header.'],
  ['payload', 'VARCHAR', 'The message as it came.'],
];

export function tables(rows) {
  const columns = COLUMNS.map(([name, type, doc]) => ({ name, type, doc }));
  return [
    { name: 'sip', doc: 'One row per SIP message.', columns, rows, files: 42, hot_rows: 31_400 },
    { name: 'qos', doc: 'One row per quality report.', columns: columns.slice(0, 3), rows: 7300, files: 6, hot_rows: 120 },
    { name: 'hep', doc: 'Any other HEP payload.', columns: columns.slice(0, 3), rows: 1500, files: 3, hot_rows: 0 },
  ];
}

export function sql(query, limit, messages) {
  const from = /\bfrom\s+"?(\w+)/i.exec(query)?.[1];
  if (!/^\s*(select|with|show|describe|explain)\b/i.test(query)) throw new Error(`sql parser: expected a statement, found: ${query.trim().split(/\s/)[0] ?? 'nothing'} at line 1, column 1`);
  if (from && !['sip', 'qos', 'hep'].includes(from)) throw new Error(`table '${from}' not found; there are: hep, qos, sip`);
  if (/count\(/i.test(query)) {
    const key = /group by (\w+)/i.exec(query)?.[1] ?? 'method';
    const counts = new Map();
    for (const m of messages) counts.set(m[key] ?? null, (counts.get(m[key] ?? null) ?? 0) + 1);
    const rows = [...counts].map(([value, n]) => ({ [key]: value, messages: n })).sort((a, b) => b.messages - a.messages);
    return answer(rows, limit, { messages: 'BIGINT' });
  }
  return answer(messages, limit, { code: 'SMALLINT', src_port: 'INTEGER', dst_port: 'INTEGER', ts: 'TIMESTAMP' });
}

function answer(rows, limit, types) {
  const cut = rows.slice(0, limit);
  return {
    columns: Object.keys(rows[0] ?? {}).map((name) => ({ name, type: types[name] ?? 'VARCHAR' })),
    rows: cut,
    row_count: cut.length,
    truncated: rows.length > limit,
    elapsed_ms: 12.41,
    scan: [{ table: 'sip', files: 42, files_scanned: 9, pruned_by_time: 21, pruned_by_bloom: 12, hot_rows: 31_400 }],
  };
}

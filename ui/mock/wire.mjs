/** Roundtrips and flows of a small shop, and answers to the questions that the wire page asks about them. */
import { iso } from './data.mjs';
import { rng } from './rng.mjs';

const SHOP = '10.0.1.10';
const CART = '10.0.1.20';
const PAY = '10.0.1.30';
const DB = '10.0.2.5';
const CACHE = '10.0.2.6';
const QUEUE = '10.0.2.7';
const DNS = '10.0.0.2';
const BROWSERS = ['192.0.2.11', '192.0.2.12', '198.51.100.7', '203.0.113.40', '2001:db8:7::21'];

/** client, server, port, protocol, per second, median µs, operations, share of errors */
const PATHS = [
  [BROWSERS, SHOP, 443, 'http', 6, 21_000, [['GET', '/'], ['GET', '/products?page=2'], ['POST', '/cart'], ['GET', '/img/logo.svg']], 0.01],
  [[SHOP], CART, 8081, 'grpc', 4, 9_000, [['cart.Cart/Get', 'cart.Cart'], ['cart.Cart/Add', 'cart.Cart']], 0],
  [[SHOP], PAY, 8080, 'http', 1, 84_000, [['POST', '/charge'], ['GET', '/methods']], 0.12],
  [[SHOP], CACHE, 6379, 'redis', 9, 180, [['GET', 'session:8812'], ['HGETALL', 'product:77'], ['SET', 'session:8812']], 0],
  [[CART], DB, 5432, 'postgresql', 5, 900, [['SELECT', 'cart_lines'], ['INSERT', 'cart_lines'], ['UPDATE', 'carts']], 0.004],
  [[PAY], DB, 5432, 'postgresql', 1, 2_400, [['SELECT', 'charges'], ['INSERT', 'charges']], 0],
  [[PAY], QUEUE, 9092, 'kafka', 1, 1_500, [['Produce', 'payments'], ['Metadata', null]], 0],
  [[SHOP, CART, PAY], DNS, 53, 'dns', 1, 400, [['A', 'db.internal'], ['AAAA', 'pay.internal']], 0.03],
  [[DB], DB, 6380, 'redis', 1, 90, [['PING', null]], 0],
];

const EMPTY = { first_byte: null, last_byte: null, error: null, reason: null, trace_id: null, span_id: null, call_id: null, vlan: null, notices: null, attributes: null };

function roundtrip(r, path, us) {
  const [clients, server, port, protocol, , median, operations, errors] = path;
  const [operation, resource] = r.pick(operations);
  const failed = r.next() < errors;
  const lost = !failed && r.next() < 0.002;
  const duration = Math.round(median * Math.exp((r.next() + r.next() + r.next() - 1.5) * 1.1) * (r.next() < 0.01 ? 20 : 1)) * 1000 + r.int(0, 999);
  const first = Math.round(duration * (0.4 + r.next() * 0.55));
  const http = protocol === 'http';
  return {
    ...EMPTY,
    ts: iso(us),
    first_byte: lost ? null : iso(us + Math.floor(first / 1000)),
    last_byte: iso(us + (lost ? 12 : Math.floor(duration / 1000))),
    duration_ns: lost ? null : duration,
    first_byte_ns: lost ? null : first,
    protocol,
    operation,
    resource,
    outcome: lost ? 'unanswered' : 'answered',
    status: lost ? null : failed ? 'error' : 'ok',
    status_code: lost ? null : http ? (failed ? '503' : operation === 'POST' ? '201' : '200') : protocol === 'dns' ? (failed ? 'NXDOMAIN' : 'NOERROR') : failed ? '23505' : null,
    error: failed ? (http ? 'upstream <b>timed out</b>' : 'duplicate key value violates unique constraint "carts_pkey"') : null,
    reason: lost ? 'timeout' : null,
    confidence: r.next() < 0.03 ? 'late_join' : 'exact',
    client_ip: r.pick(clients),
    client_port: 40_000 + r.int(0, 24),
    server_ip: server,
    server_port: port,
    transport: protocol === 'dns' ? 'udp' : 'tcp',
    direction: 'to_server',
    request_bytes: r.int(40, 900),
    response_bytes: lost ? null : r.int(40, 24_000),
    trace_id: http ? r.hex(32) : null,
    span_id: http ? r.hex(16) : null,
    notices: r.next() < 0.04 ? 'text_cut,redacted' : null,
    attributes: http
      ? JSON.stringify({ 'server.address': 'shop.example', 'user_agent.original': 'Mozilla/5.0 (X11; Linux x86_64)', 'network.protocol.version': '1.1', 'http.request.header.x': '<script>window.pwned=1</script>' })
      : protocol === 'postgresql'
        ? JSON.stringify({ 'db.system.name': 'postgresql', 'db.namespace': 'shop', 'db.query.text': `SELECT id, sku, qty\n  FROM ${resource}\n WHERE cart = $1`, 'db.response.returned_rows': 3 })
        : JSON.stringify({ 'db.system.name': protocol }),
  };
}

/** What a second brought, always the same for the same second. */
function second(t) {
  const rows = [];
  PATHS.forEach((path, nth) => {
    const r = rng(t * 31 + nth);
    const n = Math.round(path[4] * (0.7 + 0.3 * Math.sin(t / 41 + nth) + 0.4 * r.next()));
    for (let i = 0; i < n; i++) rows.push(roundtrip(r, path, t * 1_000_000 + r.int(0, 999_999)));
  });
  return rows;
}

const cache = new Map();

function between(fromMs, toMs) {
  const rows = [];
  const last = Math.floor(toMs / 1000);
  // A longer range than this would make the fixtures slow; the last quarter of an hour is what the tests look at.
  for (let t = Math.max(Math.floor(fromMs / 1000), last - 900); t <= last; t++) {
    if (!cache.has(t)) cache.set(t, second(t));
    rows.push(...cache.get(t));
  }
  return rows.filter((row) => Date.parse(row.ts) >= fromMs && Date.parse(row.ts) <= toMs);
}

function flows(nowMs) {
  const r = rng(77);
  const kinds = [
    ['http', 'plain', 443, SHOP, null],
    [null, 'tls', 443, '203.0.113.80', { 'tls.client.server_name': 'api.stripe.example', 'tls.client.ja4': 't13d1516h2_8daaf6152771_e5627efa2ab1' }],
    ['redis', 'plain', 6379, CACHE, null],
    ['postgresql', 'plain', 5432, DB, { 'db.namespace': 'shop' }],
    [null, 'unknown', 7000, CART, null],
    [null, 'silent', 22, PAY, null],
    ['postgresql', 'unreadable', 5432, DB, null],
  ];
  return Array.from({ length: 140 }, (_, i) => {
    const [protocol, visibility, port, server, attributes] = kinds[(i * 3) % kinds.length];
    const bad = i % 9 === 4;
    const us = (nowMs - i * 4000 - r.int(0, 3000)) * 1000;
    return {
      ts: iso(us), last: iso(us + 800_000), duration_ns: r.int(1, 900) * 1e6, transport: 'tcp',
      client_ip: r.pick(BROWSERS), client_port: 41_000 + i, server_ip: server, server_port: port,
      protocol, visibility, start: i % 11 === 0 ? 'middle' : 'handshake', ended: bad ? 'reset' : 'fin', roundtrips: visibility === 'plain' ? r.int(1, 40) : 0,
      client_rtt_us: r.int(20, 400), server_rtt_us: r.int(80, 30_000), client_packets: 12, server_packets: 14,
      client_bytes: r.int(600, 9000), server_bytes: r.int(900, 190_000), client_payload: 400, server_payload: 800,
      client_retransmits: bad ? 3 : 0, server_retransmits: 0, client_out_of_order: 0, server_out_of_order: 0,
      client_gap_bytes: 0, server_gap_bytes: bad ? 1448 : 0, gaps: bad ? 1 : 0, zero_windows: i % 31 === 30 ? 2 : 0, resets: bad ? 1 : 0,
      decode_errors: visibility === 'unreadable' ? 1 : 0, last_error: visibility === 'unreadable' ? 'bad_length' : null,
      vlan: null, attributes: attributes && JSON.stringify(attributes),
    };
  });
}

/** One condition of the page's own writing; anything else is an error, so that a new kind is noticed. */
function condition(text) {
  const value = (quoted) => quoted.slice(1, -1).replaceAll("''", "'");
  const rules = [
    [/^ts (>=|<|=) TIMESTAMPTZ ('.*')$/, ([, sign, at]) => (row) => (sign === '=' ? row.ts === value(at) : sign === '<' ? Date.parse(row.ts) < Date.parse(value(at)) : Date.parse(row.ts) >= Date.parse(value(at)))],
    [/^protocol IN \((.*)\)$/, ([, list]) => (row) => list.split(', ').map(value).includes(row.protocol)],
    [/^(\w+) = ('.*')$/s, ([, name, v]) => (row) => row[name] === value(v)],
    [/^(\w+) (=|>=) (\d+)$/, ([, name, sign, n]) => (row) => (sign === '=' ? row[name] === Number(n) : row[name] !== null && row[name] >= Number(n))],
    [/^(\w+) IS NOT NULL$/, ([, name]) => (row) => row[name] !== null],
    [/^(\w+) IS NULL$/, ([, name]) => (row) => row[name] === null],
    [/^status IS DISTINCT FROM 'error'$/, () => (row) => row.status !== 'error'],
    [/^starts_with\((\w+), ('.*')\)$/, ([, name, v]) => (row) => row[name].startsWith(value(v))],
    [/^contains\(lower\(concat_ws\(' ', operation, resource\)\), ('.*')\)$/s, ([, v]) => (row) => `${row.operation ?? ''} ${row.resource ?? ''}`.toLowerCase().includes(value(v))],
  ];
  for (const [pattern, make] of rules) {
    const match = pattern.exec(text);
    if (match) return make(match);
  }
  throw new Error(`the fixtures do not know the condition: ${text}`);
}

function totals(rows) {
  const lengths = rows.map((row) => row.duration_ns).filter((ns) => ns !== null).sort((a, b) => a - b);
  const at = (q) => lengths[Math.floor((lengths.length - 1) * q)] ?? null;
  return {
    n: rows.length,
    errors: rows.filter((row) => row.status === 'error').length,
    unanswered: rows.filter((row) => row.outcome === 'unanswered').length,
    p50: at(0.5), p95: at(0.95), p99: at(0.99),
    begun: Math.min(...rows.map((row) => Date.parse(row.ts))),
  };
}

/** null when the statement is not one of the wire page. */
export function wireSql(query, limit, { nowMs, quiet }) {
  const match = /^SELECT ([\s\S]+?)\nFROM (roundtrips|flows)\nWHERE ([\s\S]+?)(?:\nGROUP BY ([^\n]+))?(?:\nORDER BY (\w+)( DESC)?)?(?:\nLIMIT (\d+))?$/.exec(query.trim());
  if (!match) return null;
  const [, list, table, conditions, group, order, down, most] = match;
  const tests = conditions.split('\n  AND ').map(condition);
  const from = Date.parse(/ts >?= TIMESTAMPTZ '([^']+)'/.exec(conditions)?.[1] ?? 0);
  // A row is there a moment after its response.
  const all = quiet ? [] : table === 'flows' ? flows(nowMs) : between(from, nowMs - 400);
  let rows = all.filter((row) => tests.every((test) => test(row)));
  if (group) {
    const step = Number(/epoch_ms\(ts\) \/\/ (\d+) AS slot/.exec(list)?.[1] ?? 1000);
    const names = group.split(', ');
    const sets = new Map();
    for (const row of rows) {
      const key = names.map((name) => (name === 'slot' ? Math.floor(Date.parse(row.ts) / step) : row[name]));
      const id = JSON.stringify(key);
      if (!sets.has(id)) sets.set(id, { key, rows: [] });
      sets.get(id).rows.push(row);
    }
    rows = [...sets.values()].map((set) => ({ ...Object.fromEntries(names.map((name, i) => [name, set.key[i]])), ...totals(set.rows) }));
  }
  if (order) rows.sort((a, b) => (a[order] < b[order] ? -1 : a[order] > b[order] ? 1 : 0) * (down ? -1 : 1));
  const cut = rows.slice(0, Math.min(limit, Number(most ?? limit)));
  return {
    columns: Object.keys(cut[0] ?? {}).map((name) => ({ name, type: 'VARCHAR' })),
    rows: cut,
    row_count: cut.length,
    truncated: rows.length > cut.length,
    elapsed_ms: 6.2,
    scan: [{ table, files: 12, files_scanned: 2, pruned_by_time: 10, pruned_by_bloom: 0, hot_rows: 4100 }],
  };
}

export function captureLedger(nowMs, startMs) {
  const s = Math.floor((nowMs - startMs) / 1000) + 5400;
  const taken = s * 410;
  const total = s * 28;
  const unanswered = s >> 5;
  return {
    balanced: true,
    frames: { seen: taken + 1320, source_drops: 1320, taken, bytes: taken * 611, filtered: 0, unknown_link: 0, refused: 214 },
    packets: { taken: taken - 214, segments: taken - 9214, datagrams: 9000, other: 0, fragments: 0, reassembled: 0, retransmitted: 812, out_of_order: 93 },
    flows: { opened: 9120, opened_middle: 44, closed: { fin: 8700, reset: 210, timeout: 160 }, open: 50 },
    bytes: { payload: taken * 540, delivered: taken * 538, repeated: 400_000, missing: 91_000, unknown: 1_200_000 },
    roundtrips: { answered: total - unanswered - 44, unanswered, orphan: 41, one_way: 3, total, rows: total },
    drops: [
      { stage: 'capture', reason: 'source', count: 1320 },
      { stage: 'flow', reason: 'stray', count: 88 },
      { stage: 'wire', reason: 'not_ip', count: 214 },
    ],
    gaps: { acked: 31, close: 4 },
    decode_errors: { bad_length: 2 },
    checks: [
      { name: 'frames', left: taken, right: taken, ok: true, meaning: 'frames taken = packets handed to the flow table + frames refused' },
      { name: 'roundtrips', left: total, right: total, ok: true, meaning: 'answered + unanswered + orphan + one-way = rows' },
    ],
  };
}

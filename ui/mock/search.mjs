/** The filters of /api/search, over fixture rows. */
import { callRow, messageRow } from './data.mjs';

const UNIT = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

function time(text, now) {
  if (!text) return null;
  const relative = /^(\d+)([smhdw])$/.exec(text);
  if (relative) return now - Number(relative[1]) * UNIT[relative[2]] * 1000;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Error(`'${text}' is neither a time (RFC 3339) nor a span like 15m, 2h or 1d.`);
  return ms;
}

const wild = (pattern) => new RegExp(`^${pattern.split('*').map((s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`, 'i');

function who(pattern, user, host) {
  return wild(pattern).test(pattern.includes('@') ? `${user}@${host}` : user);
}

export function search(calls, params, now = Date.now()) {
  const get = (name) => params.get(name) ?? '';
  const since = time(get('since'), now);
  const until = time(get('until'), now);
  const code = get('code');
  if (code && !/^([1-6]xx|[1-6]\d\d)$/.test(code)) throw new Error(`'${code}' is not a response code; write 486 or 4xx.`);
  const port = get('port');
  if (port && !/^\d+$/.test(port)) throw new Error(`'${port}' is not a port.`);
  const methods = get('method') ? get('method').split(',') : null;
  const keeps = (row, payload) =>
    (!since || Date.parse(row.ts) >= since) &&
    (!until || Date.parse(row.ts) < until) &&
    (!methods || methods.includes(row.method)) &&
    (!code || (code.endsWith('xx') ? String(row.code ?? '')[0] === code[0] : row.code === Number(code))) &&
    (!get('from') || who(get('from'), row.from_user, row.from_host)) &&
    (!get('to') || who(get('to'), row.to_user, row.to_host)) &&
    (!get('call_id') || wild(get('call_id')).test(row.call_id)) &&
    (!get('ip') || [row.src_ip, row.dst_ip].some((ip) => ip === get('ip') || ip.startsWith(get('ip').replace(/[.:]?0*\/\d+$/, '')))) &&
    (!port || row.src_port === Number(port) || row.dst_port === Number(port)) &&
    (!get('node') || row.node_name === get('node') || String(row.node_id) === get('node')) &&
    (!get('text') || payload.includes(get('text')));
  const rows = [];
  for (const call of calls) {
    const hits = call.messages.map((m) => [messageRow(call, m), m.payload]).filter(([row, payload]) => keeps(row, payload));
    if (get('by') === 'call') {
      if (hits.length) rows.push(callRow(call));
    } else rows.push(...hits.map(([row]) => row));
  }
  rows.sort((a, b) => ((a.first_ts ?? a.ts) < (b.first_ts ?? b.ts) ? 1 : -1));
  const limit = Math.min(Number(get('limit') || 100), 10000);
  const offset = Number(get('offset') || 0);
  const page = rows.slice(offset, offset + limit);
  return {
    columns: Object.keys(page[0] ?? {}).map((name) => ({ name, type: 'VARCHAR' })),
    rows: page,
    row_count: page.length,
    truncated: rows.length > offset + limit,
  };
}

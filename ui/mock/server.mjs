/**
 * Serves the built page and the interface it talks to, from fixtures. For development and the browser test only.
 * PORT (8099), DIST (ui/dist), MOCK_EMPTY=1 for a server that has stored nothing and
 * captures nothing, MOCK_UNBALANCED=1.
 */
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, callAnswer, messageRow } from './data.mjs';
import { search } from './search.mjs';
import { bottleneck } from './bottleneck.mjs';
import { ledger, rate, sql, tables } from './vitals.mjs';
import { captureLedger, wireSql } from './wire.mjs';

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8' };

export function start({ port = 0, dist, empty = false, balanced = true } = {}) {
  const root = dist ?? fileURLToPath(new URL('../dist/', import.meta.url));
  const startMs = Date.now();
  const calls = empty ? [] : build(startMs);
  const messages = calls.flatMap((c) => c.messages.map((m) => messageRow(c, m)));

  async function api(path, url, request) {
    if (path === 'health') return { status: 'ok', version: '0.1.0', uptime_s: 5400 + (Date.now() - startMs) / 1000, reasons: [] };
    if (path === 'ledger') return { ...ledger(startMs, Date.now(), balanced), ...(empty ? {} : { capture: captureLedger(Date.now(), startMs) }) };
    if (path === 'bottleneck') return bottleneck(Date.now(), !balanced);
    if (path === 'rate') return rate(Date.now());
    if (path === 'tables') return tables(messages.length).map((t) => (empty ? { ...t, rows: 0, files: 0, hot_rows: 0 } : t));
    if (path === 'search') {
      const scan = [{ table: 'sip', files: 42, files_scanned: 3, pruned_by_time: 30, pruned_by_bloom: 9, hot_rows: 31_400 }];
      return { ...search(calls, url.searchParams), elapsed_ms: 8.73, scan };
    }
    if (path === 'sql' && request.method === 'POST') {
      let body = '';
      for await (const part of request) body += part;
      const { query, limit = 10_000 } = JSON.parse(body);
      return wireSql(query, limit, { nowMs: Date.now(), quiet: empty }) ?? sql(query, limit, messages);
    }
    return null;
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://mock');
    const reply = (status, type, body, headers = {}) => response.writeHead(status, { 'content-type': type, ...headers }).end(body);
    const json = (status, value) => reply(status, 'application/json', JSON.stringify(value));
    try {
      const call = /^\/api\/calls\/([^/]+)(\/pcap|\/text)?$/.exec(url.pathname);
      if (call) {
        const id = decodeURIComponent(call[1]);
        const found = calls.find((c) => c.callId === id || c.messages.some((m) => m.leg === id));
        if (!found) return json(404, { error: `No message with the Call-ID '${id}' is stored.` });
        if (call[2] === '/pcap') return reply(200, 'application/vnd.tcpdump.pcap', Buffer.from('d4c3b2a1020004000000000000000000ffff000001000000', 'hex'), { 'content-disposition': 'attachment; filename="call.pcap"' });
        if (call[2] === '/text') return reply(200, 'text/plain; charset=utf-8', found.messages.map((m) => `${m.src.ip} -> ${m.dst.ip} ${m.code ?? m.method}`).join('\n'));
        return json(200, callAnswer(found));
      }
      if (url.pathname.startsWith('/api/')) {
        const value = await api(url.pathname.slice(5), url, request).catch((error) => ({ failed: error.message }));
        if (value === null) return json(404, { error: 'There is no such path.' });
        return value.failed ? json(400, { error: value.failed }) : json(200, value);
      }
      const file = normalize(url.pathname === '/' ? '/index.html' : url.pathname);
      const body = await readFile(join(root, file));
      return reply(200, TYPES[extname(file)] ?? 'application/octet-stream', body);
    } catch (error) {
      return json(error.code === 'ENOENT' ? 404 : 500, { error: String(error.message) });
    }
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve({ server, url: `http://127.0.0.1:${server.address().port}/` })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await start({
    port: Number(process.env.PORT ?? 8099),
    dist: process.env.DIST,
    empty: process.env.MOCK_EMPTY === '1',
    balanced: process.env.MOCK_UNBALANCED !== '1',
  });
  console.log(`wirelake mock: ${url}`);
}

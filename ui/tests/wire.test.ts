import { describe, expect, it } from 'vitest';
import { layout, lineWidth } from '../src/lib/map';
import type { EdgeRow, RoundtripRow } from '../src/lib/types';
import { conditions, emptyWire, framesOf, packetsCommand, parseEndpoint, parseKey, parseSpan, rangeOf, rateSeconds, readWire, rowKey, sqlFor, stepFor, wireFilters, writeWire } from '../src/lib/wire';
import { attributesOf, barShare, errorTone, percent, protocolClass, took } from '../src/lib/wirewords';

const NOW = Date.parse('2026-11-21T12:00:00Z');

describe('wire state', () => {
  it('is short when nothing is set', () => {
    expect(writeWire(emptyWire()).toString()).toBe('');
    expect(readWire(new URLSearchParams())).toEqual(emptyWire());
  });

  it.each([
    { view: 'map' as const, protocols: ['http', 'dns'] },
    { text: "o'brien & co", min: '1.5s', status: 'error' as const },
    { flow: '10.0.0.1:5~[::1]:6', at: '2026-11-21T12:00:00.000001Z~10.0.0.1~5~77~GET' },
    { since: '2026-11-21T09:00:00Z', until: '2026-11-21T10:00:00Z', live: false },
  ])('survives the address: %o', (part) => {
    const state = { ...emptyWire(), ...part };
    expect(readWire(new URLSearchParams(writeWire(state).toString()))).toEqual(state);
  });

  it('ignores what it does not know', () => {
    expect(readWire(new URLSearchParams('view=nowhere&status=odd'))).toEqual(emptyWire());
  });

  it('counts filters, not views', () => {
    expect(wireFilters({ ...emptyWire(), view: 'map', since: '1h' })).toBe(0);
    expect(wireFilters({ ...emptyWire(), protocols: ['http', 'dns'], text: 'x', status: 'ok' })).toBe(3);
  });
});

describe('what is typed', () => {
  it.each([
    ['100ms', 1e8], ['1.5s', 1.5e9], ['250us', 250_000], ['3 µs', 3000], ['20', 2e7], ['2 min', 1.2e11],
    ['', null], ['fast', null], ['-3ms', null], ['1.2.3', null],
  ])('span %s', (text, ns) => expect(parseSpan(text)).toBe(ns));

  it.each([
    ['10.0.0.1', '10.0.0.1', null], ['10.0.0.1:80', '10.0.0.1', 80], ['[2001:db8::1]:443', '2001:db8::1', 443],
    ['2001:db8::1', '2001:db8::1', null], [':5432', '', 5432], ['10.0.*', '10.0.*', null],
  ])('endpoint %s', (text, ip, port) => expect(parseEndpoint(text)).toEqual({ ip, port }));
});

describe('sql', () => {
  const range = rangeOf({ since: '15m', until: '' }, NOW);
  const of = (part: object) => conditions({ ...emptyWire(), ...part }, range);

  it('always bounds the time by a constant that prunes', () => {
    expect(of({})).toEqual(["ts >= TIMESTAMPTZ '2026-11-21T11:45:00.000Z'"]);
    const closed = rangeOf({ since: '2026-11-21T09:00:00Z', until: '2026-11-21T10:00:00Z' }, NOW);
    expect(conditions(emptyWire(), closed)[1]).toBe("ts < TIMESTAMPTZ '2026-11-21T10:00:00.000Z'");
  });

  it('keeps what is typed inside its quotes', () => {
    expect(of({ text: "'; DROP" })[1]).toBe("contains(lower(concat_ws(' ', operation, resource)), '''; drop')");
    expect(of({ protocols: ["a'b"] })[1]).toBe("protocol IN ('a''b')");
    expect(of({ client: "x' OR 1=1" })[1]).toBe("client_ip = 'x'' OR 1=1'");
  });

  it('writes each filter', () => {
    expect(of({ status: 'unanswered' })[1]).toBe("outcome = 'unanswered'");
    expect(of({ status: 'ok' }).slice(1)).toEqual(["outcome = 'answered'", "status IS DISTINCT FROM 'error'"]);
    expect(of({ min: '2ms' })[1]).toBe('duration_ns >= 2000000');
    expect(of({ min: 'nonsense' })).toHaveLength(1);
    expect(of({ server: ':80' })[1]).toBe('server_port = 80');
    expect(of({ server: '10.0.*' })[1]).toBe("starts_with(server_ip, '10.0.')");
    expect(of({ flow: '10.0.0.1:5~10.0.0.2:6' }).slice(1)).toEqual(["client_ip = '10.0.0.1'", 'client_port = 5', "server_ip = '10.0.0.2'", 'server_port = 6']);
  });

  it('asks flows only what they have', () => {
    const state = { ...emptyWire(), view: 'flows' as const, text: 'x', min: '1ms', status: 'error' as const, server: ':80' };
    expect(sqlFor.flows(state, range)).not.toMatch(/operation|duration_ns|status/);
    expect(sqlFor.protocols(state, range)).toContain('FROM flows');
  });

  it('finds a roundtrip by its key again', () => {
    const row = { ts: '2026-11-21T12:00:00.000001Z', client_ip: '::1', client_port: 5, duration_ns: null, operation: 'a~b' } as RoundtripRow;
    expect(parseKey(rowKey(row))).toEqual({ ts: row.ts, clientIp: '::1', clientPort: 5, durationNs: null, operation: 'a~b' });
    expect(sqlFor.one(rowKey(row))).toContain('duration_ns IS NULL');
    expect(sqlFor.one('nonsense')).toBeNull();
  });
});

describe('time', () => {
  it('has at most 150 steps', () => {
    for (const since of ['5m', '15m', '1h', '6h', '24h', '7d']) {
      const range = rangeOf({ since, until: '' }, NOW);
      expect((range.toMs - range.fromMs) / stepFor(range)).toBeLessThanOrEqual(150);
    }
  });

  it('fills the empty slots and leaves out the running one', () => {
    const range = rangeOf({ since: '5s', until: '' }, NOW);
    const slot = NOW / 1000 - 3;
    const frame = framesOf([{ slot, n: 4, errors: 1, unanswered: 1, p50: 2e6, p95: null, p99: null }], range, 1000);
    expect(frame.t).toHaveLength(5);
    expect(frame.rate).toEqual([0, 0, 4, 0, 0]);
    expect(frame.errors[2]).toBe(2);
    expect(frame.p50).toEqual([null, null, 2, null, null]);
  });

  it('takes rates over what was captured, at least a minute', () => {
    const range = rangeOf({ since: '15m', until: '' }, NOW);
    expect(rateSeconds(range, [])).toBe(900);
    expect(rateSeconds(range, [{ begun: NOW - 120_000 }, { begun: NOW - 90_000 }])).toBe(120);
    expect(rateSeconds(range, [{ begun: NOW - 1000 }])).toBe(60);
  });
});

describe('words', () => {
  it.each([[999, '999 ns'], [1500, '1.50 µs'], [98_800, '98.8 µs'], [142_000, '142 µs'], [2.5e9, '2.50 s'], [null, '–']])('%s ns', (ns, text) => expect(took(ns)).toBe(text));

  it('says little errors and many', () => {
    expect([errorTone(0, 9), errorTone(1, 1000), errorTone(1, 100), errorTone(9, 100)]).toEqual(['ok', 'ok', 'client', 'server']);
    expect([percent(0, 0), percent(1, 10_000), percent(1, 30), percent(1, 2)]).toEqual(['0 %', '< 0.1 %', '3.3 %', '50 %']);
    expect([barShare(null), barShare(1e9), barShare(1e12)]).toEqual([0, expect.closeTo(83.3, 1), 100]);
  });

  it('shows attributes that are no object as text', () => {
    expect(attributesOf('{"a":1,"b":"x","c":{"d":[2]}}').slice(0, 2)).toEqual([['a', '1'], ['b', 'x']]);
    expect(attributesOf('[1]')).toEqual([['', '[1]']]);
    expect(attributesOf('{"cut')).toEqual([['', '{"cut']]);
    expect(attributesOf(null)).toEqual([]);
    expect(protocolClass('http" onload="x')).toBe('p-other');
  });

  it('writes the command for the packets', () => {
    const row = { ts: '2026-11-21T12:00:00.000500Z', last_byte: '2026-11-21T12:00:01.999999Z', transport: 'tcp', client_ip: '10.0.0.1', client_port: 5, server_ip: '10.0.0.2', server_port: 80, vlan: 7 };
    expect(packetsCommand(row)).toBe(
      "wirelake packets --from PACKETS_DIR --since 2026-11-21T11:59:59.999500Z --until 2026-11-21T12:00:02.000999Z --filter 'vlan 7 and tcp and host 10.0.0.1 and port 5 and host 10.0.0.2 and port 80' --write roundtrip.pcap",
    );
  });
});

describe('map', () => {
  const edge = (client_ip: string, server_ip: string, server_port = 80, n = 10): EdgeRow => ({ client_ip, server_ip, server_port, protocol: 'http', n, errors: 0, unanswered: 0, p50: 1e6, p95: 1e6, p99: 1e6 });
  const x = (edges: EdgeRow[]) => new Map(layout(edges).boxes.map((box) => [box.label, box.x]));

  it('goes from left to right', () => {
    const at = x([edge('c', 'a'), edge('a', 'b'), edge('b', 'd'), edge('a', 'd')]);
    expect(['c', 'a', 'b', 'd'].map((id) => at.get(id)!)).toEqual([...['c', 'a', 'b', 'd'].map((id) => at.get(id)!)].sort((p, q) => p - q));
    expect(at.get('b')).toBeLessThan(at.get('d')!);
  });

  it('ends on circles, and draws a call back from right to left', () => {
    const at = x([edge('c', 'a'), edge('a', 'b'), edge('b', 'a'), edge('p', 'q'), edge('q', 'p')]);
    expect(at.get('a')).toBeLessThan(at.get('b')!);
    expect(layout([]).boxes).toEqual([]);
  });

  it('lets a health check on a host not move that host forward', () => {
    const plan = layout([edge('c', 'a'), edge('a', 'b'), edge('b', 'db'), edge('db', 'db')]);
    const host = (id: string) => plan.boxes.find((box) => box.id === id)!.x;
    expect(host('b')).toBeLessThan(host('db'));
  });

  it('keeps what asks itself apart from what answers', () => {
    const plan = layout([edge('127.0.0.1', '127.0.0.1', 6379), edge('127.0.0.1', '127.0.0.1', 80)]);
    expect(plan.boxes.map((box) => box.kind).sort()).toEqual(['host', 'local']);
    expect(plan.boxes.find((box) => box.kind === 'host')!.services.map((s) => s.port)).toEqual([80, 6379]);
  });

  it('takes clients together that ask the same', () => {
    const plan = layout([1, 2, 3, 4, 5].map((n) => edge(`c${n}`, 'a')));
    expect(plan.boxes.map((box) => box.label)).toContain('5 clients');
    expect(plan.lines).toHaveLength(1);
    expect(plan.lines[0]!.n).toBe(50);
  });

  it('is the same for the same edges in any order, and nothing overlaps', () => {
    const edges = Array.from({ length: 120 }, (_, i) => edge(`10.0.${i % 3}.${(i * 7) % 20}`, `10.0.${(i % 3) + 1}.${(i * 11) % 20}`, 80 + (i % 4), i + 1));
    const plan = layout(edges);
    expect(plan.boxes.length).toBeGreaterThan(50);
    const places = (p: typeof plan) => p.boxes.map((b) => `${b.id} ${b.x} ${b.y}`).sort();
    expect(places(layout(edges.toReversed()))).toEqual(places(plan));
    for (const a of plan.boxes) {
      expect(a.x >= 0 && a.y >= 0 && a.x + a.w <= plan.width && a.y + a.h <= plan.height).toBe(true);
      for (const b of plan.boxes) {
        if (a !== b) expect(a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h, `${a.id} on ${b.id}`).toBe(false);
      }
    }
    expect(plan.lines.every((line) => /^M[\d. C-]+$/.test(line.path))).toBe(true);
  });

  it('draws a busier line wider', () => {
    expect(lineWidth(100, 100)).toBeGreaterThan(lineWidth(1, 100));
    expect(lineWidth(0, 0)).toBeGreaterThan(0);
  });
});

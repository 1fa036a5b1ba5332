import { describe, expect, it } from 'vitest';
import { layout, legName, ROW_HEIGHT, sideways, title } from '../src/lib/ladder';
import { fit } from '../src/lib/measure';
import type { Call, CallMessage } from '../src/lib/types';
import { reveal, visible } from '../src/lib/virtual';

function msg(index: number, from: number, to: number, part: Partial<CallMessage> = {}): CallMessage {
  return {
    index,
    ts: `2026-11-21T09:00:00.${String(index * 10).padStart(3, '0')}Z`,
    delta_ms: 10,
    from,
    to,
    src_ip: `10.0.0.${from}`,
    src_port: 5060,
    dst_ip: `10.0.0.${to}`,
    dst_port: 5060,
    transport: 'udp',
    is_request: true,
    method: 'INVITE',
    code: null,
    reason: null,
    label: 'INVITE',
    cseq: 1,
    call_id: 'a',
    from_user: null,
    to_user: null,
    from_tag: null,
    to_tag: null,
    user_agent: null,
    media: [],
    node_id: null,
    node_name: null,
    parse_error: null,
    size: 1,
    retransmit: false,
    payload: '',
    ...part,
  };
}

function call(messages: CallMessage[], hosts = 3): Call {
  return {
    call_id: 'a',
    call_ids: ['a', 'b'],
    cids: [],
    first_ts: '',
    last_ts: '',
    duration_ms: 0,
    state: 'other',
    from: null,
    to: null,
    setup_ms: null,
    talk_ms: null,
    truncated: false,
    hosts: Array.from({ length: hosts }, (_, id) => ({ id, ip: `10.0.0.${id}`, ports: [5060], name: null })),
    messages,
  };
}

describe('layout', () => {
  const three = call([msg(0, 0, 1, { label: 'INVITE (SDP)' }), msg(1, 1, 2, { call_id: 'b' }), msg(2, 1, 1)]);

  it('places hosts from left to right, at least a label apart', () => {
    const { columns, width } = layout(three, 300);
    const xs = columns.map((c) => c.x);
    expect(xs).toEqual([...xs].sort((a, b) => a - b));
    expect(xs[1]! - xs[0]!).toBeGreaterThanOrEqual(140);
    expect(width).toBeGreaterThan(xs.at(-1)!);
  });

  it('uses a wide window, but does not tear hosts apart', () => {
    const [first, second] = layout(three, 5000).columns;
    expect(second!.x - first!.x).toBe(420);
    expect(layout(three, 5000).width).toBe(5000);
  });

  it('draws arrows between the columns and a loop beside one', () => {
    const { rows, columns, height } = layout(three, 900);
    expect(rows[0]).toMatchObject({ x1: columns[0]!.x, x2: columns[1]!.x, self: false, label: 'INVITE', sdp: true, leg: 0 });
    expect(rows[1]!.leg).toBe(1);
    expect(rows[2]!.self).toBe(true);
    expect(rows[2]!.x2).toBeGreaterThan(rows[2]!.x1);
    expect(height).toBe(3 * ROW_HEIGHT);
  });

  it('hides a leg with its hosts, keeps indices and counts time anew', () => {
    const { rows, columns } = layout(three, 900, new Set(['b']));
    expect(rows.map((r) => r.message)).toEqual([0, 2]);
    expect(columns.map((c) => c.host.id)).toEqual([0, 1]);
    expect(rows[1]!.delta).toBe('+20 ms');
  });

  it('marks a pause and bears a clock that runs backwards', () => {
    const { rows } = layout(call([msg(0, 0, 1), msg(1, 0, 1, { ts: '2026-11-21T09:00:02.000Z' }), msg(2, 0, 1, { ts: '2026-11-21T09:00:01.990Z' })]), 900);
    expect(rows[0]!.delta).toBe('');
    expect(rows[1]).toMatchObject({ pause: true, delta: '+2 s' });
    expect(rows[2]).toMatchObject({ pause: false, delta: '-10 ms' });
  });

  it('leaves out what points at an unknown host', () => {
    expect(layout(call([msg(0, 0, 9), msg(1, 0, 1)]), 900).rows.map((r) => r.message)).toEqual([1]);
  });

  it('handles nothing', () => {
    expect(layout(call([]), 900)).toMatchObject({ rows: [], columns: [], height: 0 });
  });

  it('lays out ten thousand messages at once', () => {
    const many = call(Array.from({ length: 10_000 }, (_, i) => msg(i, i % 3, (i + 1) % 3)));
    const begun = performance.now();
    expect(layout(many, 900).rows).toHaveLength(10_000);
    expect(performance.now() - begun).toBeLessThan(2000);
  });
});

describe('words', () => {
  it('falls back on the code and the method', () => {
    expect(title(msg(0, 0, 1, { label: '', is_request: false, code: 486, reason: 'Busy Here' }))).toBe('486 Busy Here');
    expect(title(msg(0, 0, 1, { label: '', method: null }))).toBe('unknown');
  });

  it('names legs', () => expect([legName(0), legName(25), legName(26)]).toEqual(['A', 'Z', '27']));

  it('cuts a label to its room', () => {
    const width = (text: string): number => text.length * 7;
    expect(fit('BYE', 100, width)).toBe('BYE');
    expect(fit('480 Temporarily Unavailable', 70, width)).toBe('480 Tempo…');
  });
});

describe('scrolling', () => {
  it('draws only what is in sight', () => {
    expect(visible(0, 300, 30, 1000, 2)).toEqual({ start: 0, end: 13 });
    expect(visible(3000, 300, 30, 1000, 2)).toEqual({ start: 98, end: 113 });
    expect(visible(1e6, 300, 30, 50, 2)).toEqual({ start: 50, end: 50 });
    expect(visible(0, 300, 30, 0)).toEqual({ start: 0, end: 0 });
  });

  it('moves no more than it must', () => {
    expect(reveal(5, 30, 0, 300)).toBe(0);
    expect(reveal(20, 30, 0, 300)).toBe(330);
    expect(reveal(2, 30, 300, 300)).toBe(60);
  });

  it('finds an arrow beside the window', () => {
    const row = layout(call([msg(0, 1, 2)]), 900).rows[0]!;
    expect(sideways({ ...row, x1: 900, x2: 1050 }, 0, 600)).toBe(490);
    expect(sideways({ ...row, x1: 100, x2: 250 }, 400, 600)).toBe(60);
    expect(sideways({ ...row, x1: 100, x2: 250 }, 0, 600)).toBe(0);
  });
});

/** Fixture calls as rows and as call answers. */
import { b2bua, giant, HOSTS, hostile, register, simple } from './calls.mjs';
import { rng } from './rng.mjs';

const SETUP = ['INVITE', 'REGISTER', 'SUBSCRIBE'];
const split = (who) => {
  const at = who.lastIndexOf('@');
  return [who.slice(0, at), who.slice(at + 1)];
};

export const iso = (us) => `${new Date(Math.floor(us / 1000)).toISOString().slice(0, 19)}.${String(us % 1_000_000).padStart(6, '0')}Z`;

export function build(nowMs) {
  const r = rng(20261121);
  const { alice, bob, sbc, proxy, carrier, six, sixProxy } = HOSTS;
  const calls = [];
  let n = 0;
  const add = (agoS, make) => calls.push(make({ startMs: nowMs - agoS * 1000 - r.int(0, 999), callId: `${r.hex(16)}@${r.pick(['10.10.1.21', '10.10.1.44', 'edge-fra', 'pbx.example.org'])}`, from: `${2000 + (n++ % 60)}@example.org`, to: `${r.pick(['+4930', '+4420', '+331', '+1202'])}${r.int(1000000, 9999999)}@example.org` }));

  add(14, (o) => simple(r, o, alice, proxy, bob, 'ringing'));
  add(52, (o) => b2bua(r, o.startMs));
  add(70, (o) => simple(r, { ...o, from: 'carol@chicago.example', to: 'bob@biloxi.example' }, alice, proxy, bob, 486));
  add(95, (o) => simple(r, { ...o, from: 'dave@example.org' }, alice, sbc, carrier, 'cancel'));
  add(118, (o) => register(r, { ...o, from: 'alice@atlanta.example', to: 'alice@atlanta.example' }, alice, proxy));
  add(120, (o) => register(r, { ...o, from: '9999@example.org', to: '9999@example.org', agent: 'friendly-scanner' }, bob, proxy, true));
  add(240, (o) => simple(r, { ...o, from: 'six@[2001:db8:40::5]', to: 'bob@biloxi.example', node: 1 }, six, sixProxy, bob, 'bye'));
  add(310, (o) => simple(r, { ...o, transport: 'tcp', from: 'tcp@example.org' }, alice, proxy, carrier, 'answered'));
  add(420, (o) => simple(r, o, alice, sbc, carrier, 503));
  add(500, (o) => hostile(r, o.startMs));
  add(900, (o) => giant(r, o.startMs));
  for (let i = 0; i < 700; i++) {
    const end = r.pick(['bye', 'bye', 'bye', 'bye', 'answered', 'cancel', 486, 404, 603, 503, 302, 'reg', 'reg', 'reg']);
    const [a, p, b] = r.pick([[alice, proxy, bob], [alice, sbc, carrier], [six, sixProxy, bob], [bob, proxy, alice]]);
    add(560 + i * 29, (o) => (end === 'reg' ? register(r, { ...o, node: i % 2 }, a, p) : simple(r, { ...o, node: i % 2, transport: i % 5 ? 'udp' : 'tcp' }, a, p, b, end)));
  }
  return calls;
}

export function messageRow(call, m) {
  const [fromUser, fromHost] = split(m.from);
  const [toUser, toHost] = split(m.to);
  return {
    ts: iso(m.us), call_id: m.leg, cid: call.callId, method: m.method, code: m.code, reason: m.reason,
    from_user: fromUser, from_host: fromHost, to_user: toUser, to_host: toHost,
    src_ip: m.src.ip, src_port: m.src.port, dst_ip: m.dst.ip, dst_port: m.dst.port, transport: m.transport,
    node_id: m.node.id, node_name: m.node.name, user_agent: m.agent, is_request: m.code === null, parse_error: m.parseError,
  };
}

export function callRow(call) {
  const [first, last] = [call.messages[0], call.messages.at(-1)];
  const final = call.messages.findLast((m) => m.code >= 200 && m.method === first.method);
  const row = messageRow(call, first);
  return {
    first_ts: iso(first.us), last_ts: iso(last.us), duration_ms: (last.us - first.us) / 1000, call_id: call.callId,
    method: first.method, from_user: row.from_user, from_host: row.from_host, to_user: row.to_user, to_host: row.to_host,
    src_ip: first.src.ip, dst_ip: first.dst.ip, messages: call.messages.length, code: final?.code ?? null,
    reason: final?.reason ?? null, state: call.state, node_name: first.node.name,
  };
}

export function callAnswer(call) {
  const hosts = [];
  const hostId = (end) => {
    let h = hosts.find((x) => x.ip === end.ip);
    if (!h) hosts.push((h = { id: hosts.length, ip: end.ip, ports: [], name: end.name }));
    if (!h.ports.includes(end.port)) h.ports.push(end.port);
    return h.id;
  };
  const first = call.messages[0];
  const messages = call.messages.map((m, index) => {
    const row = messageRow(call, m);
    const words = m.code ? `${m.code} ${m.reason}` : m.method;
    return {
      index, ts: row.ts, delta_ms: index ? (m.us - call.messages[index - 1].us) / 1000 : 0, from: hostId(m.src), to: hostId(m.dst),
      src_ip: row.src_ip, src_port: row.src_port, dst_ip: row.dst_ip, dst_port: row.dst_port, transport: row.transport,
      is_request: row.is_request, method: row.method, code: row.code, reason: row.reason,
      label: m.media.length ? `${words} (SDP)` : words, cseq: m.cseq, call_id: m.leg, from_user: row.from_user, to_user: row.to_user,
      from_tag: m.fromTag, to_tag: m.toTag, user_agent: m.agent, media: m.media, node_id: row.node_id, node_name: row.node_name,
      parse_error: m.parseError, size: Buffer.byteLength(m.payload), retransmit: m.retransmit, payload: m.payload,
      ...(m.base64 ? { payload_base64: m.base64 } : {}),
    };
  });
  const at = (test) => call.messages.find(test)?.us;
  const answered = at((m) => m.code === 200 && SETUP.includes(m.method) && m.leg === call.callId);
  const bye = at((m) => m.method === 'BYE' && !m.code);
  const isInvite = first.method === 'INVITE';
  return {
    call_id: call.callId, call_ids: [...new Set(call.messages.map((m) => m.leg))], cids: [call.callId],
    first_ts: iso(first.us), last_ts: iso(call.messages.at(-1).us), duration_ms: (call.messages.at(-1).us - first.us) / 1000,
    state: call.state, from: call.from, to: call.to,
    setup_ms: isInvite && answered ? (answered - first.us) / 1000 : null,
    talk_ms: isInvite && answered && bye ? (bye - answered) / 1000 : null,
    truncated: false, hosts, messages,
  };
}

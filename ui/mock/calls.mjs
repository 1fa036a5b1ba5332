/** The fixture calls, newest first. Times hang on the moment the server starts; everything else is fixed. */
import { rng } from './rng.mjs';
import { REASONS, sdp, write } from './sip.mjs';

const host = (ip, port = 5060, name = null) => ({ ip, port, name });
const NODE = [
  { id: 2001, name: 'sbc-1' },
  { id: 2002, name: 'edge-fra' },
];

export const HOSTS = {
  alice: host('10.10.1.21', 5062),
  bob: host('10.10.1.44', 5060),
  sbc: host('10.10.0.5', 5060, 'sbc-1'),
  proxy: host('10.10.0.9', 5060, 'proxy'),
  carrier: host('192.0.2.40', 5060, 'carrier-a'),
  six: host('2001:db8:40:12::c0de', 5060),
  sixProxy: host('2001:db8:40::5', 5060),
};

export function makeCall(r, { callId, from, to, startMs, transport = 'udp', node = 0, display, agent = 'Linphone/5.2.3' }) {
  const messages = [];
  let us = startMs * 1000;
  const tags = new Map();
  const tag = (key) => tags.get(key) ?? (tags.set(key, r.hex(8)), tags.get(key));
  const branches = new Map();

  function send(src, dst, what, options = {}) {
    const { method = 'INVITE', cseq = 1, leg = callId, media, wait, retransmit = false, ...rest } = options;
    us += wait !== undefined ? wait * 1000 : r.int(300, 24_000);
    const code = typeof what === 'number' ? what : null;
    const verb = code ? method : what;
    const branchKey = `${leg}/${cseq}/${verb === 'ACK' ? 'ACK' : verb}`;
    if (!branches.has(branchKey)) branches.set(branchKey, r.hex(12));
    const toTag = code && code > 100 ? tag(`${leg}/to`) : verb !== 'INVITE' && verb !== 'REGISTER' && verb !== 'CANCEL' && !code ? tag(`${leg}/to`) : null;
    const body = media ? sdp(media.ip, media.port) : null;
    const payload =
      options.payload ??
      write({ src, dst, code, method: verb, cseq, callId: leg, from, to, display, fromTag: tag(`${leg}/from`), toTag, branch: branches.get(branchKey), body, agent: code ? 'wl-sbc 4.1' : agent, transport, ...rest });
    const reason = code ? (options.reason ?? REASONS[code]) : null;
    messages.push({
      us, src, dst, code, reason, method: verb, cseq, leg, payload, transport, retransmit,
      node: NODE[node], from, to, toTag, fromTag: tag(`${leg}/from`), agent: code ? 'wl-sbc 4.1' : agent,
      media: media ? [{ kind: 'audio', ip: media.ip, port: media.port }] : [],
      parseError: options.parseError ?? null,
      base64: options.base64 ?? null,
    });
    return us;
  }
  return { callId, from, to, messages, send };
}

export function b2bua(r, startMs) {
  const { alice, sbc, carrier } = HOSTS;
  const c = makeCall(r, { callId: 'a84b4c76e66710@pc33.atlanta.example', from: 'alice@atlanta.example', to: '+4930901820@biloxi.example', startMs, display: 'Alice' });
  const B = 'B2B.1.882713.1763@10.10.0.5';
  c.send(alice, sbc, 'INVITE', { media: { ip: '10.10.1.21', port: 30120 } });
  c.send(alice, sbc, 'INVITE', { media: { ip: '10.10.1.21', port: 30120 }, retransmit: true, wait: 500 });
  c.send(sbc, alice, 100, { wait: 1.9 });
  c.send(sbc, carrier, 'INVITE', { leg: B, media: { ip: '10.10.0.5', port: 16384 }, wait: 6.2, agent: 'wl-sbc 4.1' });
  c.send(carrier, sbc, 100, { leg: B });
  c.send(carrier, sbc, 180, { leg: B, wait: 812 });
  c.send(sbc, alice, 180, { wait: 0.8 });
  c.send(carrier, sbc, 200, { leg: B, wait: 4210, media: { ip: '198.51.100.9', port: 41200 } });
  c.send(sbc, alice, 200, { wait: 1.1, media: { ip: '10.10.0.5', port: 16386 } });
  c.send(alice, sbc, 'ACK', { wait: 12 });
  c.send(sbc, carrier, 'ACK', { leg: B, wait: 0.6, agent: 'wl-sbc 4.1' });
  c.send(alice, sbc, 'BYE', { cseq: 2, wait: 31_204 });
  c.send(sbc, alice, 200, { method: 'BYE', cseq: 2, wait: 0.9 });
  c.send(sbc, carrier, 'BYE', { leg: B, cseq: 2, wait: 0.4, agent: 'wl-sbc 4.1' });
  c.send(carrier, sbc, 200, { leg: B, method: 'BYE', cseq: 2, wait: 18 });
  return { ...c, state: 'ended' };
}

export function simple(r, options, a, p, b, end) {
  const c = makeCall(r, options);
  const media = { ip: a.ip, port: r.int(20000, 40000) & ~1 };
  c.send(a, p, 'INVITE', { media });
  c.send(p, a, 100);
  c.send(p, b, 'INVITE', { media });
  if (end === 503) {
    c.send(b, p, 503);
    c.send(p, b, 'ACK');
    c.send(p, a, 503);
    c.send(a, p, 'ACK');
    return { ...c, state: 'failed' };
  }
  c.send(b, p, 100);
  c.send(b, p, 180, { wait: r.int(200, 1600) });
  c.send(p, a, 180);
  if (end === 'ringing') return { ...c, state: 'ringing' };
  if (end === 'cancel') {
    c.send(a, p, 'CANCEL', { wait: r.int(3000, 14_000) });
    c.send(p, a, 200, { method: 'CANCEL' });
    c.send(p, b, 'CANCEL');
    c.send(b, p, 200, { method: 'CANCEL' });
    c.send(b, p, 487);
    c.send(p, b, 'ACK');
    c.send(p, a, 487);
    c.send(a, p, 'ACK');
    return { ...c, state: 'cancelled' };
  }
  if (typeof end === 'number') {
    c.send(b, p, end, { wait: r.int(900, 9000) });
    c.send(p, b, 'ACK');
    c.send(p, a, end);
    c.send(a, p, 'ACK');
    return { ...c, state: 'failed' };
  }
  const answer = { ip: b.ip, port: r.int(20000, 40000) & ~1 };
  c.send(b, p, 200, { wait: r.int(1500, 9000), media: answer });
  c.send(p, a, 200, { media: answer });
  c.send(a, p, 'ACK');
  c.send(p, b, 'ACK');
  if (end === 'answered') return { ...c, state: 'answered' };
  c.send(b, p, 'BYE', { cseq: 2, wait: r.int(5_000, 190_000) });
  c.send(p, a, 'BYE', { cseq: 2 });
  c.send(a, p, 200, { method: 'BYE', cseq: 2 });
  c.send(p, b, 200, { method: 'BYE', cseq: 2 });
  return { ...c, state: 'ended' };
}

export function register(r, options, a, p, refused = false) {
  const c = makeCall(r, options);
  const call = { method: 'REGISTER' };
  c.send(a, p, 'REGISTER');
  c.send(p, a, 401, call);
  c.send(a, p, 'REGISTER', { cseq: 2 });
  c.send(p, a, refused ? 403 : 200, { ...call, cseq: 2 });
  return { ...c, state: refused ? 'failed' : 'registered' };
}

/** Thousands of messages on several legs and hosts. */
export function giant(r, startMs, pairs = 1600) {
  const { sbc, carrier, proxy, alice, bob, six } = HOSTS;
  const hosts = [alice, sbc, proxy, carrier, bob, six, host('10.10.7.1'), host('10.10.7.2')];
  const c = makeCall(r, { callId: 'giant-conference-77@10.10.0.5', from: 'conference-77@example.org', to: 'focus@example.org', startMs, node: 1 });
  for (let i = 0; i < pairs; i++) {
    const at = r.int(0, hosts.length - 2);
    const leg = i % 3 === 0 ? c.callId : `giant-leg-${i % 3}@10.10.0.9`;
    const [a, b] = r.next() > 0.5 ? [hosts[at], hosts[at + 1]] : [hosts[at + 1], hosts[at]];
    const verb = r.pick(['OPTIONS', 'NOTIFY', 'INFO', 'UPDATE', 'MESSAGE']);
    c.send(a, b, verb, { cseq: i + 1, leg });
    c.send(b, a, 200, { method: verb, cseq: i + 1, leg });
  }
  c.send(sbc, sbc, 'NOTIFY', { cseq: 9001, wait: 1400 });
  return { ...c, state: 'other' };
}

export function hostile(r, startMs) {
  const { bob, proxy } = HOSTS;
  const evil = '<script>window.pwned=1</script>';
  const c = makeCall(r, { callId: `evil"'/?#%<img src=x onerror=window.pwned=1>@evil`, from: `${evil}@evil.example`, to: '"><svg/onload=window.pwned=1>@evil.example', startMs, agent: `sipvicious ${evil} \u202Egnp.exe` });
  c.send(bob, proxy, 'INVITE', { headers: [`Subject: ${evil}`, 'X-Bidi: abc\u202Edef\u202C \u0007\u001b[31mred', `X-Formula: =HYPERLINK("http://evil.example")`] });
  const bytes = Buffer.concat([Buffer.from('INVITE sip:\xff\xfe\x00\x01 SIP/2.0\r\nVia: broken', 'latin1'), Buffer.from(Array.from({ length: 300 }, () => r.int(0, 255)))]);
  c.send(bob, proxy, 'INVITE', { cseq: 2, payload: bytes.toString('utf8'), base64: bytes.toString('base64'), parseError: 'the Via header has no sent-by' });
  c.send(proxy, bob, 400, { reason: `Bad ${evil}` });
  return { ...c, state: 'failed' };
}

/** Writes SIP messages as they look on the wire. */

export const REASONS = {
  100: 'Trying',
  180: 'Ringing',
  183: 'Session Progress',
  200: 'OK',
  202: 'Accepted',
  302: 'Moved Temporarily',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  407: 'Proxy Authentication Required',
  486: 'Busy Here',
  487: 'Request Terminated',
  503: 'Service Unavailable',
  603: 'Decline',
};

const bracket = (ip) => (ip.includes(':') ? `[${ip}]` : ip);

export function sdp(ip, port) {
  const family = ip.includes(':') ? 'IP6' : 'IP4';
  return [
    'v=0',
    `o=- 3945 3945 IN ${family} ${ip}`,
    's=-',
    `c=IN ${family} ${ip}`,
    't=0 0',
    `m=audio ${port} RTP/AVP 8 0 101`,
    'a=rtpmap:8 PCMA/8000',
    'a=rtpmap:0 PCMU/8000',
    'a=rtpmap:101 telephone-event/8000',
    'a=fmtp:101 0-15',
    'a=ptime:20',
    'a=sendrecv',
    '',
  ].join('\r\n');
}

/** One message of a dialog as text. */
export function write(m) {
  const { src, dst, code, method, cseq, callId, from, to, fromTag, toTag, branch, body, agent, transport } = m;
  const lines = [code ? `SIP/2.0 ${code} ${m.reason ?? REASONS[code]}` : `${method} sip:${to}${transport === 'tcp' ? ';transport=tcp' : ''} SIP/2.0`];
  const via = code ? dst : src;
  lines.push(`Via: SIP/2.0/${transport.toUpperCase()} ${bracket(via.ip)}:${via.port};rport;branch=z9hG4bK${branch}`);
  if (!code) lines.push('Max-Forwards: 69');
  lines.push(`From: ${m.display ? `"${m.display}" ` : ''}<sip:${from}>;tag=${fromTag}`);
  lines.push(`To: <sip:${to}>${toTag ? `;tag=${toTag}` : ''}`);
  lines.push(`Call-ID: ${callId}`, `CSeq: ${cseq} ${method}`);
  if (method === 'INVITE' && code !== 100) lines.push(`Contact: <sip:${bracket(src.ip)}:${src.port};transport=${transport}>`);
  if (method === 'INVITE' && !code) lines.push('Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, REFER, NOTIFY', 'Supported: timer, replaces, 100rel', 'Session-Expires: 1800');
  if (code === 401) lines.push('WWW-Authenticate: Digest realm="example.org", nonce="5f1b9c", algorithm=MD5, qop="auth"');
  if (agent) lines.push(`${code ? 'Server' : 'User-Agent'}: ${agent}`);
  for (const extra of m.headers ?? []) lines.push(extra);
  if (body) lines.push('Content-Type: application/sdp');
  lines.push(`Content-Length: ${body ? Buffer.byteLength(body) : 0}`, '', body ?? '');
  return lines.join('\r\n');
}

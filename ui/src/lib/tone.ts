/** One colour per meaning, the same in the table, the ladder and the message. */
export type Tone =
  | 'prov'
  | 'ok'
  | 'redir'
  | 'client'
  | 'server'
  | 'invite'
  | 'bye'
  | 'register'
  | 'request'
  | 'plain';

export function codeTone(code: number | null | undefined): Tone {
  if (!code) return 'plain';
  if (code < 200) return 'prov';
  if (code < 300) return 'ok';
  if (code < 400) return 'redir';
  if (code < 500) return 'client';
  return 'server';
}

export function methodTone(method: string | null | undefined): Tone {
  switch (method?.toUpperCase()) {
    case 'INVITE':
    case 'ACK':
    case 'PRACK':
    case 'UPDATE':
      return 'invite';
    case 'BYE':
    case 'CANCEL':
      return 'bye';
    case 'REGISTER':
    case 'SUBSCRIBE':
    case 'PUBLISH':
      return 'register';
    case undefined:
      return 'plain';
    default:
      return 'request';
  }
}

export function messageTone(m: { is_request: boolean; method: string | null; code: number | null }): Tone {
  return m.is_request ? methodTone(m.method) : codeTone(m.code);
}

export function stateTone(state: string, code?: number | null): Tone {
  switch (state) {
    case 'answered':
      return 'ok';
    case 'registered':
      return 'ok';
    case 'ended':
      return 'redir';
    case 'ringing':
      return 'invite';
    case 'cancelled':
      return 'client';
    case 'failed':
      return code && code < 500 ? 'client' : 'server';
    default:
      return 'plain';
  }
}

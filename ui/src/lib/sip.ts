/** Cuts a SIP message into coloured parts. It never rejects: broken messages are the ones people look at. */
import { codeTone, methodTone, type Tone } from './tone';

export type PartKind = 'method' | 'code' | 'uri' | 'version' | 'name' | 'sep' | 'value' | 'sdp-key' | 'sdp-value' | 'body';

export interface Part {
  kind: PartKind;
  text: string;
  tone?: Tone;
}

export type Line = Part[];

/** Beyond this, colouring costs more than it helps. */
const MAX_LINES = 2000;

export function tokenise(payload: string): Line[] {
  const lines = payload.split(/\r\n|\n|\r/);
  const out: Line[] = [];
  let inBody = false;
  let sdp = false;
  for (const [index, raw] of lines.entries()) {
    if (index >= MAX_LINES) {
      out.push([{ kind: 'body', text: `… ${lines.length - MAX_LINES} more lines: copy the message to see them` }]);
      break;
    }
    const text = printable(raw);
    if (index === 0) {
      out.push(startLine(text));
    } else if (inBody) {
      out.push(bodyLine(text, sdp));
    } else if (raw === '') {
      inBody = true;
      out.push([]);
    } else {
      if (/^(content-type|c)\s*:\s*application\/sdp/i.test(raw)) sdp = true;
      out.push(headerLine(text));
    }
  }
  while (out.length > 1 && out.at(-1)?.length === 0) out.pop();
  return out;
}

function startLine(text: string): Line {
  const status = /^(SIP\/\d\.\d)( +)(\d{3})(.*)$/.exec(text);
  if (status) {
    const [, version = '', gap = '', code = '', reason = ''] = status;
    const tone = codeTone(Number(code));
    return [
      { kind: 'version', text: version },
      { kind: 'sep', text: gap },
      { kind: 'code', text: code + reason, tone },
    ];
  }
  const request = /^([A-Za-z]+)( +)(.*?)( +)(SIP\/\d\.\d)$/.exec(text);
  if (request) {
    const [, method = '', gap1 = '', uri = '', gap2 = '', version = ''] = request;
    return [
      { kind: 'method', text: method, tone: methodTone(method) },
      { kind: 'sep', text: gap1 },
      { kind: 'uri', text: uri },
      { kind: 'sep', text: gap2 },
      { kind: 'version', text: version },
    ];
  }
  return text === '' ? [] : [{ kind: 'body', text }];
}

function headerLine(text: string): Line {
  // A line that begins with white space continues the header above it.
  if (/^[ \t]/.test(text)) return [{ kind: 'value', text }];
  const colon = text.indexOf(':');
  if (colon < 1) return [{ kind: 'body', text }];
  return [
    { kind: 'name', text: text.slice(0, colon) },
    { kind: 'sep', text: ':' },
    { kind: 'value', text: text.slice(colon + 1) },
  ];
}

function bodyLine(text: string, sdp: boolean): Line {
  if (text === '') return [];
  if (sdp && /^[a-z]=/.test(text)) {
    return [
      { kind: 'sdp-key', text: text.slice(0, 2) },
      { kind: 'sdp-value', text: text.slice(2) },
    ];
  }
  return [{ kind: 'body', text }];
}

/**
 * Control and direction-changing characters could hide or reorder what a sender wrote, so they are shown instead of
 * obeyed: C0 as Unicode's control pictures, the rest as their code point.
 */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return '\u2421';
    return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
  });
}

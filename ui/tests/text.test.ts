import { describe, expect, it } from 'vitest';
import { toCsv } from '../src/lib/export';
import { bytes, count, endpoint, party, si } from '../src/lib/format';
import { gridColumns, nextSort, sortRows } from '../src/lib/grid';
import { decodeBase64, hexDump } from '../src/lib/hex';
import { share } from '../src/lib/ledger';
import { series } from '../src/lib/rate';
import { printable, tokenise } from '../src/lib/sip';
import { addToHistory, identifier } from '../src/lib/sql';
import { codeTone, messageTone } from '../src/lib/tone';

const kinds = (text: string): string[][] => tokenise(text).map((line) => line.map((part) => part.kind));
const joined = (text: string): string => tokenise(text).map((line) => line.map((part) => part.text).join('')).join('\n');

describe('SIP text', () => {
  it('cuts a request', () => {
    const lines = tokenise('INVITE sip:bob@x SIP/2.0\r\nVia: a\r\n b\r\nContent-Type: application/sdp\r\n\r\nv=0\r\nnot sdp');
    expect(lines[0]!.map((p) => p.text)).toEqual(['INVITE', ' ', 'sip:bob@x', ' ', 'SIP/2.0']);
    expect(kinds('INVITE sip:bob@x SIP/2.0\r\nVia: a\r\n b')[2]).toEqual(['value']);
    expect(lines[5]!.map((p) => p.kind)).toEqual(['sdp-key', 'sdp-value']);
    expect(lines[6]![0]!.kind).toBe('body');
  });

  it('cuts a response and colours its code', () => {
    expect(tokenise('SIP/2.0 486 Busy Here')[0]).toEqual([
      { kind: 'version', text: 'SIP/2.0' },
      { kind: 'sep', text: ' ' },
      { kind: 'code', text: '486 Busy Here', tone: 'client' },
    ]);
  });

  it('loses nothing of a broken message', () => {
    for (const text of ['', 'garbage', ':novalue', 'INVITE sip:x', 'SIP/2.0 2 OK', '\n\nlate']) {
      expect(joined(text).trimEnd()).toBe(text.trimEnd());
    }
  });

  it('shows what would hide or turn text', () => {
    expect(printable('a\u202Eb\u0000\u001b[31m\tz\u200b')).toBe('a‹U+202E›b␀␛[31m\tz‹U+200B›');
  });

  it('ends a huge message with a word about the rest', () => {
    const lines = tokenise(`INVITE sip:x SIP/2.0\n${'X: y\n'.repeat(5000)}`);
    expect(lines).toHaveLength(2001);
    expect(lines.at(-1)![0]!.text).toMatch(/more lines/);
  });
});

describe('tones', () => {
  it.each([
    [100, 'prov'],
    [200, 'ok'],
    [302, 'redir'],
    [486, 'client'],
    [503, 'server'],
    [603, 'server'],
    [null, 'plain'],
  ])('%s is %s', (code, tone) => expect(codeTone(code)).toBe(tone));

  it('take the method of a request and the code of a response', () => {
    expect(messageTone({ is_request: true, method: 'BYE', code: null })).toBe('bye');
    expect(messageTone({ is_request: false, method: 'BYE', code: 200 })).toBe('ok');
  });
});

describe('numbers and names', () => {
  it('read well', () => {
    expect(count(1234567)).toBe('1\u202f234\u202f567');
    expect(count(null)).toBe('–');
    expect(si(0)).toBe('0');
    expect(si(3417)).toBe('3\u202f417');
    expect(si(12_345)).toBe('12.3\u202fk');
    expect(si(250_000_000)).toBe('250\u202fM');
    expect(bytes(584)).toBe('584 B');
    expect(bytes(1536)).toBe('1.5 KiB');
    expect(share(1, 0)).toBe(0);
  });

  it('write addresses', () => {
    expect(endpoint('10.0.0.1', 5060)).toBe('10.0.0.1:5060');
    expect(endpoint('2001:db8::1', 5060)).toBe('[2001:db8::1]:5060');
    expect(party('alice', 'x')).toBe('alice@x');
    expect(party(null, 'x')).toBe('x');
  });

  it('make rates of counts', () => {
    expect(series({ interval_ms: 500, points: [{ t: 1, messages: 10, bytes: 125_000, drops: 1 }] })).toEqual([[1], [20], [2], [2]]);
  });
});

describe('CSV', () => {
  it('quotes, and does not let the wire write formulas', () => {
    const csv = toCsv(['a', 'b'], [{ a: 'x,"y"', b: -5 }, { a: '=cmd()', b: null }, { a: '+4930', b: { k: [1] } }]);
    expect(csv).toBe('a,b\r\n"x,""y""",-5\r\n\'=cmd(),\r\n\'+4930,"{""k"":[1]}"\r\n');
  });
});

describe('SQL', () => {
  it('keeps a history without repeats', () => {
    expect(addToHistory(['a', 'b'], ' b ')).toEqual(['b', 'a']);
    expect(addToHistory(['a'], '  ')).toEqual(['a']);
    expect(addToHistory(Array.from({ length: 50 }, (_, i) => `q${i}`), 'new')).toHaveLength(50);
  });

  it('quotes names that need it', () => {
    expect(identifier('call_id')).toBe('call_id');
    expect(identifier('Odd"name')).toBe('"Odd""name"');
  });

  it('sorts numbers as numbers and null last', () => {
    const rows = [{ n: 9 }, { n: null }, { n: 10 }];
    expect(sortRows(rows, { column: 'n', down: true }).map((r) => r.n)).toEqual([10, 9, null]);
    expect(sortRows(rows, { column: 'n', down: false }).map((r) => r.n)).toEqual([9, 10, null]);
    expect(nextSort(nextSort(nextSort(null, 'n'), 'n'), 'n')).toBeNull();
  });

  it('aligns numbers to the right', () => {
    const columns = gridColumns({ columns: [{ name: 'n', type: 'BIGINT' }, { name: 's', type: 'VARCHAR' }], rows: [], row_count: 0, truncated: false, elapsed_ms: 0, scan: [] });
    expect(columns.map((c) => c.right)).toEqual([true, false]);
  });
});

describe('hex', () => {
  it('dumps 16 or 8 to the line', () => {
    const data = decodeBase64(btoa('INVITE sip:\xff\x00'))!;
    expect(hexDump(data)).toEqual([{ offset: '0000', hex: '49 4e 56 49 54 45 20 73  69 70 3a ff 00         ', text: 'INVITE sip:..' }]);
    expect(hexDump(data, 8)).toHaveLength(2);
    expect(decodeBase64('***')).toBeNull();
  });
});

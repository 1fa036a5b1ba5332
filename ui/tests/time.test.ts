import { describe, expect, it } from 'vitest';
import { bothClocks, clock, fromLocalInput, micros, relative, shortTime, span, toLocalInput, unixMs } from '../src/lib/time';

const ISO = '2026-11-21T09:41:54.123456Z';

describe('microseconds', () => {
  it('survive, though Date drops them', () => {
    expect(micros(ISO)).toBe(123456);
    expect(micros('2026-11-21T09:41:54.5Z')).toBe(500000);
    expect(micros('2026-11-21T09:41:54.000007999Z')).toBe(7);
    expect(micros('2026-11-21T09:41:54Z')).toBe(0);
  });

  it('order two messages of one millisecond', () => {
    expect(unixMs('2026-11-21T09:41:54.123457Z') - unixMs(ISO)).toBeCloseTo(0.001, 3);
  });
});

// TZ is set to Europe/Berlin in vitest.config.ts.
describe('clocks', () => {
  it('are local, with the digits asked for', () => {
    expect(clock(ISO)).toBe('10:41:54.123');
    expect(clock(ISO, 6)).toBe('10:41:54.123456');
    expect(clock(ISO, 0)).toBe('10:41:54');
    expect(clock('nonsense')).toBe('nonsense');
  });

  it('take the date in when it is not today', () => {
    expect(shortTime(ISO, new Date('2026-11-21T20:00:00Z'))).toBe('10:41:54.123');
    expect(shortTime(ISO, new Date('2026-11-22T20:00:00Z'))).toBe('11-21 10:41:54');
    expect(shortTime(ISO, new Date('2026-11-22T20:00:00Z'), 6)).toBe('11-21 10:41:54.123');
    // 23:30 UTC is tomorrow in Berlin.
    expect(shortTime('2026-11-21T23:30:00Z', new Date('2026-11-22T01:00:00Z'), 0)).toBe('00:30:00');
  });

  it('say both in a tooltip', () => {
    expect(bothClocks(ISO)).toBe('2026-11-21 10:41:54.123456 local\n2026-11-21 09:41:54.123456 UTC');
  });
});

describe('relative', () => {
  const at = unixMs(ISO);
  it.each([
    [500, '0 s'],
    [59_000, '59 s'],
    [60_000, '1 min'],
    [3_600_000, '1 h'],
    [90_000_000, '1 d'],
    [-900, '0 s'],
    [-5000, 'in 5 s'],
  ])('%d ms later is %s', (later, text) => expect(relative(ISO, at + later)).toBe(text));
});

describe('span', () => {
  it.each([
    [0, '0 ms'],
    [0.01234, '0.012 ms'],
    [0.5, '0.5 ms'],
    [9.57, '9.57 ms'],
    [22.74, '22.7 ms'],
    [812, '812 ms'],
    [999.6, '1 s'],
    [4210, '4.21 s'],
    [31_204, '31.2 s'],
    [59_960, '1 min 00 s'],
    [182_000, '3 min 02 s'],
    [5_400_000, '1 h 30 min'],
    [200_000_000, '2 d 7 h'],
    [-20, '-20 ms'],
    [null, '–'],
  ])('%s ms is %s', (ms, text) => expect(span(ms)).toBe(text));
});

describe('date fields', () => {
  it('go there and back', () => {
    expect(toLocalInput('2026-11-21T09:41:54Z')).toBe('2026-11-21T10:41:54');
    expect(fromLocalInput('2026-11-21T10:41:54')).toBe('2026-11-21T09:41:54Z');
  });

  it('are empty when they are', () => {
    expect(toLocalInput('')).toBe('');
    expect(fromLocalInput('')).toBe('');
    expect(fromLocalInput('2026-13-99T00:00')).toBe('');
  });
});

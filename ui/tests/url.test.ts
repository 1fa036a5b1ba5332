import { describe, expect, it } from 'vitest';
import { apiQuery, emptySearch, filterCount, isCustom, nextLimit, readSearch, writeSearch } from '../src/lib/query';
import { callHash, hashFor, parseHash } from '../src/lib/url';

describe('hash', () => {
  it('names the page', () => {
    expect(parseHash('').page).toBe('search');
    expect(parseHash('#/live').page).toBe('live');
    expect(parseHash('#/sql?q=SELECT%201').params.get('q')).toBe('SELECT 1');
    expect(parseHash('#/nowhere').page).toBe('search');
    expect(hashFor('live')).toBe('#/live');
    expect(hashFor('search', new URLSearchParams({ from: 'a' }))).toBe('#/search?from=a');
  });

  it.each(['a84b@host', 'a/b?c#d%e', '%41', '100% sure', 'späte@тест', "evil\"'<img>"])('keeps the Call-ID %s', (id) => {
    const route = parseHash(callHash(id, new URLSearchParams({ msg: '3' })));
    expect(route.page).toBe('call');
    expect(route.id).toBe(id);
    expect(route.params.get('msg')).toBe('3');
  });

  it('reads a hand-written link with a lone percent sign', () => {
    expect(parseHash('#/call/50%@host').id).toBe('50%@host');
  });
});

describe('search state', () => {
  it('is short when nothing is set', () => {
    expect(writeSearch(emptySearch()).toString()).toBe('');
    expect(readSearch(new URLSearchParams())).toEqual(emptySearch());
  });

  it.each([
    { from: 'alice', code: '4xx', by: 'message' as const },
    { since: '' },
    { since: '7d', live: true },
    { since: '2026-11-21T09:00:00Z', until: '2026-11-21T10:00:00Z' },
    { since: '', until: '2026-11-21T10:00:00Z' },
    { since: '1h', until: '2026-11-21T10:00:00Z' },
    { text: 'a&b=c d' },
  ])('goes there and back: %o', (part) => {
    const state = { ...emptySearch(), ...part };
    expect(readSearch(writeSearch(state))).toEqual(state);
  });

  it('equal searches have equal addresses', () => {
    const a = readSearch(new URLSearchParams('to=b&from=a&since=1h'));
    expect(writeSearch(a).toString()).toBe('from=a&to=b');
  });

  it('knows a custom range', () => {
    expect(isCustom({ since: '1h', until: '' })).toBe(false);
    expect(isCustom({ since: '', until: '' })).toBe(false);
    expect(isCustom({ since: '2026-11-21T09:00:00Z', until: '' })).toBe(true);
    expect(isCustom({ since: '1h', until: '2026-11-21T09:00:00Z' })).toBe(true);
  });
});

describe('query to the server', () => {
  it('says what is asked and nothing else', () => {
    const state = { ...emptySearch(), method: 'invite, bye', ip: ' 10.0.0.1 ', live: true };
    expect(apiQuery(state, 200).toString()).toBe('by=call&method=INVITE%2CBYE&ip=10.0.0.1&since=1h&limit=200');
  });

  it('asks for all time by saying no time', () => {
    expect(apiQuery({ ...emptySearch(), since: '' }, 10).has('since')).toBe(false);
  });

  it('grows to the limit of the server and not beyond', () => {
    expect(nextLimit(200)).toBe(1000);
    expect(nextLimit(5000)).toBe(10_000);
    expect(apiQuery(emptySearch(), 50_000).get('limit')).toBe('10000');
  });

  it('counts filters, not spaces', () => {
    expect(filterCount({ ...emptySearch(), from: 'a', to: '  ' })).toBe(1);
  });
});

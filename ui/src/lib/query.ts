/** What the search form holds, how it is written into the address and how it is asked of the server. */

export const FIELDS = ['from', 'to', 'call_id', 'method', 'code', 'ip', 'port', 'node', 'text'] as const;
export type Field = (typeof FIELDS)[number];

export interface SearchState extends Record<Field, string> {
  by: 'call' | 'message';
  /** RFC 3339, relative (`15m`), or '' for the beginning. */
  since: string;
  until: string;
  live: boolean;
}

export const PRESETS = [
  { since: '15m', label: '15 m', title: 'the last 15 minutes' },
  { since: '1h', label: '1 h', title: 'the last hour' },
  { since: '6h', label: '6 h', title: 'the last 6 hours' },
  { since: '24h', label: '24 h', title: 'the last 24 hours' },
  { since: '7d', label: '7 d', title: 'the last 7 days' },
  { since: '', label: 'All', title: 'all that is stored' },
] as const;

export const DEFAULT_SINCE = '1h';
export const MAX_LIMIT = 10_000;
export const FIRST_LIMIT = 200;

export function emptySearch(): SearchState {
  return {
    from: '',
    to: '',
    call_id: '',
    method: '',
    code: '',
    ip: '',
    port: '',
    node: '',
    text: '',
    by: 'call',
    since: DEFAULT_SINCE,
    until: '',
    live: false,
  };
}

export function isRelative(since: string): boolean {
  return /^\d+[smhdw]$/.test(since);
}

/** Whether the range is one that the form shows as two dates. */
export function isCustom(
  state: Pick<SearchState, 'since' | 'until'>,
  presets: readonly { since: string }[] = PRESETS,
): boolean {
  return state.until !== '' || !presets.some((p) => p.since === state.since);
}

export function readSearch(params: URLSearchParams): SearchState {
  const state = emptySearch();
  for (const field of FIELDS) state[field] = params.get(field) ?? '';
  if (params.get('by') === 'message') state.by = 'message';
  // 'all' and not an absent key: absent means the default, so that the short address stays useful.
  const since = params.get('since');
  if (since !== null) state.since = since === 'all' ? '' : since;
  else if (params.has('until')) state.since = '';
  state.until = params.get('until') ?? '';
  state.live = params.get('live') === '1';
  return state;
}

/** Only what differs from the default, in a fixed order: equal searches have equal addresses. */
export function writeSearch(state: SearchState): URLSearchParams {
  const params = new URLSearchParams();
  for (const field of FIELDS) {
    const value = state[field].trim();
    if (value) params.set(field, value);
  }
  if (state.by !== 'call') params.set('by', state.by);
  if (state.since === '') {
    if (!state.until) params.set('since', 'all');
  } else if (state.since !== DEFAULT_SINCE || state.until) params.set('since', state.since);
  if (state.until) params.set('until', state.until);
  if (state.live) params.set('live', '1');
  return params;
}

/** The server's parameters: the same names, with `by` always said and nothing empty. */
export function apiQuery(state: SearchState, limit: number): URLSearchParams {
  const params = new URLSearchParams({ by: state.by });
  for (const field of FIELDS) {
    const value = field === 'method' ? methods(state.method) : state[field].trim();
    if (value) params.set(field, value);
  }
  if (state.since) params.set('since', state.since);
  if (state.until) params.set('until', state.until);
  params.set('limit', String(Math.min(limit, MAX_LIMIT)));
  return params;
}

/** SIP methods are upper case on the wire; people type `invite, bye`. */
function methods(text: string): string {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((m) => m.toUpperCase())
    .join(',');
}

export function filterCount(state: SearchState): number {
  return FIELDS.filter((field) => state[field].trim() !== '').length;
}

/** The next page is a longer first page: with rows arriving at the top, an offset would skip or repeat some. */
export function nextLimit(limit: number): number {
  return Math.min(limit * 5, MAX_LIMIT);
}

/** The address after `#` is the whole state of the page, so a link shows a colleague what you see. */

export type PageName = 'search' | 'call' | 'live' | 'wire' | 'sql';

export interface Route {
  page: PageName;
  /** Call-ID, only for `call`. */
  id: string;
  params: URLSearchParams;
}

export function parseHash(hash: string): Route {
  const text = hash.replace(/^#?\/?/, '');
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  const params = new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1));
  const slash = path.indexOf('/');
  const head = slash < 0 ? path : path.slice(0, slash);
  if (head === 'call' && slash >= 0) {
    const id = decode(path.slice(slash + 1));
    if (id) return { page: 'call', id, params };
  }
  if (head === 'live' || head === 'wire' || head === 'sql') return { page: head, id: '', params };
  return { page: 'search', id: '', params };
}

/** A hand-written link may hold a lone `%`; show what was meant and not an exception. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hashFor(page: Exclude<PageName, 'call'>, params?: URLSearchParams): string {
  const query = params?.toString();
  return `#/${page}${query ? `?${query}` : ''}`;
}

export function callHash(id: string, params?: URLSearchParams): string {
  const query = params?.toString();
  return `#/call/${encodeURIComponent(id)}${query ? `?${query}` : ''}`;
}

/** What the SQL page knows about queries: examples, history and how to write a name. */

export const EXAMPLES: { title: string; query: string }[] = [
  {
    title: 'Messages per method, last hour',
    query: `SELECT method, count(*) AS messages
FROM sip
WHERE ts > now() - INTERVAL '1 hour'
GROUP BY method
ORDER BY messages DESC`,
  },
  {
    title: 'Final responses to INVITE, by code',
    query: `SELECT code, reason, count(*) AS n
FROM sip
WHERE method = 'INVITE' AND code >= 200
GROUP BY code, reason
ORDER BY n DESC`,
  },
  {
    title: 'Busiest user agents',
    query: `SELECT user_agent, count(*) AS messages, count(DISTINCT call_id) AS calls
FROM sip
GROUP BY user_agent
ORDER BY messages DESC
LIMIT 20`,
  },
  {
    title: 'Sources of failed registrations',
    query: `SELECT dst_ip, from_user, count(*) AS refused
FROM sip
WHERE method = 'REGISTER' AND code = 403
GROUP BY dst_ip, from_user
ORDER BY refused DESC
LIMIT 50`,
  },
  {
    title: 'Messages that could not be parsed',
    query: `SELECT ts, src_ip, src_port, parse_error, payload
FROM sip
WHERE parse_error IS NOT NULL
ORDER BY ts DESC
LIMIT 100`,
  },
  {
    title: 'Rate per minute',
    query: `SELECT date_trunc('minute', ts) AS minute, count(*) AS messages
FROM sip
GROUP BY minute
ORDER BY minute DESC
LIMIT 60`,
  },
];

const KEY = 'wirelake.sql.history';
const KEEP = 50;

/** Newest first; a query that is run again moves up instead of showing twice. */
export function addToHistory(history: string[], query: string): string[] {
  const text = query.trim();
  return text === '' ? history : [text, ...history.filter((h) => h !== text)].slice(0, KEEP);
}

export function loadHistory(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter((q) => typeof q === 'string').slice(0, KEEP) : [];
  } catch {
    return [];
  }
}

export function saveHistory(history: string[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(history));
  } catch {
    // Storage forbidden or full: the history lasts as long as the page.
  }
}

/** A plain lower-case name needs no quotes; anything else would be folded or misread. */
export function identifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** One line of a query, for a list. */
export function oneLine(query: string): string {
  return query.replace(/\s+/g, ' ').trim();
}

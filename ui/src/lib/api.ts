import type { Answer, Bottleneck, Call, Health, Ledger, Rate, TableInfo } from './types';

/** A failed request, with the sentence a person should read. */
export class ApiError extends Error {
  constructor(
    message: string,
    /** HTTP status, or 0 when no answer came. */
    readonly status: number,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

async function request(path: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError('The server does not answer. Is wirelake still running?', 0);
  }
  if (response.ok) return response;
  throw new ApiError(await sentence(response), response.status);
}

async function sentence(response: Response): Promise<string> {
  const text = await response.text().catch(() => '');
  try {
    const body: unknown = JSON.parse(text);
    if (body && typeof body === 'object' && 'error' in body && typeof body.error === 'string') return body.error;
  } catch {
    // A proxy in between answers in its own words.
  }
  return `The server answered ${response.status} ${response.statusText}.`.replace(' .', '.');
}

async function json<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await request(path, init);
  try {
    return (await response.json()) as T;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError('The answer is not JSON. Does something else listen on this address?', response.status);
  }
}

/** Relative paths: the page may be served below a prefix. */
export const callPath = (id: string): string => `api/calls/${encodeURIComponent(id)}`;
export const pcapPath = (id: string): string => `${callPath(id)}/pcap`;
export const textPath = (id: string): string => `${callPath(id)}/text`;

export const api = {
  health: (signal?: AbortSignal) => json<Health>('api/health', { signal }),
  ledger: (signal?: AbortSignal) => json<Ledger>('api/ledger', { signal }),
  bottleneck: (signal?: AbortSignal) => json<Bottleneck>('api/bottleneck', { signal }),
  rate: (signal?: AbortSignal) => json<Rate>('api/rate', { signal }),
  tables: (signal?: AbortSignal) => json<TableInfo[]>('api/tables', { signal }),
  search: <R>(query: URLSearchParams, signal?: AbortSignal) => json<Answer<R>>(`api/search?${query}`, { signal }),
  call: (id: string, signal?: AbortSignal) => json<Call>(callPath(id), { signal }),
  sql: (query: string, limit: number, signal?: AbortSignal) =>
    json<Answer>('api/sql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, limit }),
      signal,
    }),
};

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

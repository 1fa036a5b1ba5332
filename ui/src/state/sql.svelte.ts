/** The editor and its last answer outlive the page. */
import { api, isAbort, message } from '../lib/api';
import { addToHistory, EXAMPLES, loadHistory, saveHistory } from '../lib/sql';
import type { Answer } from '../lib/types';

export const LIMITS = [100, 1000, 10_000];

class SqlState {
  query: string = $state(EXAMPLES[0]!.query);
  limit = $state(1000);
  answer: Answer | null = $state.raw(null);
  failed: string | null = $state(null);
  busy = $state(false);
  history: string[] = $state.raw(loadHistory());
  #asked: AbortController | null = null;

  async run(query: string): Promise<void> {
    this.#asked?.abort();
    const mine = new AbortController();
    this.#asked = mine;
    this.busy = true;
    this.history = addToHistory(this.history, query);
    saveHistory(this.history);
    try {
      this.answer = await api.sql(query, this.limit, mine.signal);
      this.failed = null;
    } catch (error) {
      if (isAbort(error)) return;
      this.failed = message(error);
      this.answer = null;
    } finally {
      if (this.#asked === mine) this.busy = false;
    }
  }

  /** The answer to a question nobody waits for any more. */
  stop(): void {
    this.#asked?.abort();
    this.busy = false;
  }

  forget(): void {
    this.history = [];
    saveHistory([]);
  }
}

export const sql = new SqlState();

/** One question that is asked again and again, with its last answer. */
import { api, isAbort, message } from '../lib/api';
import type { Answer } from '../lib/types';

export class Feed<R> {
  answer: Answer<R> | null = $state.raw(null);
  failed: string | null = $state(null);
  busy = $state(false);

  /**
   * The answer too, for who wants to go on from it; one that is not `enough` is not shown. Throws nothing but what an
   * abort throws.
   */
  async ask(
    query: string,
    limit: number,
    signal: AbortSignal,
    enough: (answer: Answer<R>) => boolean = () => true,
  ): Promise<Answer<R> | null> {
    this.busy = true;
    try {
      const answer = (await api.sql(query, limit, signal)) as unknown as Answer<R>;
      if (enough(answer)) this.answer = answer;
      this.failed = null;
      return answer;
    } catch (error) {
      if (isAbort(error)) throw error;
      this.failed = message(error);
      return null;
    } finally {
      this.busy = false;
    }
  }
}

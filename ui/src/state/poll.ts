import { isAbort } from '../lib/api';

/**
 * Asks again `everyMs` after each answer, so a slow server is never asked twice at once, and not while the tab is
 * hidden. An `ask` that answers with a number sets the next wait itself. Returns the function that stops it.
 */
export function poll(everyMs: number, ask: (signal: AbortSignal) => Promise<number | void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;
  const stopped = new AbortController();

  async function turn(): Promise<void> {
    timer = undefined;
    if (running || stopped.signal.aborted || document.hidden) return;
    running = true;
    let wait = everyMs;
    try {
      wait = (await ask(stopped.signal)) ?? everyMs;
    } catch (error) {
      if (!isAbort(error)) console.warn(error);
    } finally {
      running = false;
      if (!stopped.signal.aborted && !document.hidden) timer = setTimeout(turn, wait);
    }
  }

  const woken = (): void => {
    if (!document.hidden && timer === undefined) void turn();
  };
  document.addEventListener('visibilitychange', woken);
  void turn();

  return () => {
    stopped.abort();
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', woken);
  };
}

/** What the header always shows and the live page shows large: is it well, and how much comes in. */
import { api, isAbort, message } from '../lib/api';
import type { CaptureLedger, Health, Rate, RatePoint } from '../lib/types';
import { poll } from './poll';

class Vitals {
  health: Health | null = $state.raw(null);
  /** Set while the server does not answer. */
  unreachable: string | null = $state(null);
  rate: Rate = $state.raw({ interval_ms: 1000, points: [] });
  /** Steps once a second: ages in tables follow it. */
  now = $state(Date.now());

  /** The books of capture; null while it is off, undefined while nobody knows. */
  capture: CaptureLedger | null | undefined = $state.raw(undefined);
  /** Roundtrips per second; null while capture is off. */
  roundtrips: number | null = $state(null);
  #counted: { at: number; total: number } | null = null;

  #count(capture: CaptureLedger | undefined): void {
    this.capture = capture ?? null;
    const before = this.#counted;
    if (!capture) {
      this.roundtrips = this.#counted = null;
      return;
    }
    this.#counted = { at: performance.now(), total: capture.roundtrips.total };
    const seconds = before ? (this.#counted.at - before.at) / 1000 : 0;
    this.roundtrips = before && seconds > 0 ? Math.max(0, this.#counted.total - before.total) / seconds : NaN;
  }

  get last(): RatePoint | undefined {
    return this.rate.points.at(-1);
  }

  perSecond(n: number | undefined): number {
    return ((n ?? 0) * 1000) / Math.max(1, this.rate.interval_ms);
  }

  start(): () => void {
    const stops = [
      poll(5000, async (signal) => {
        try {
          this.health = await api.health(signal);
          this.unreachable = null;
        } catch (error) {
          if (!isAbort(error)) this.unreachable = message(error);
        }
      }),
      poll(1000, async (signal) => {
        this.now = Date.now();
        try {
          this.rate = await api.rate(signal);
        } catch {
          // The health dot already says it.
        }
      }),
      poll(2000, async (signal) => {
        try {
          this.#count((await api.ledger(signal)).capture);
        } catch {
          // As above.
        }
      }),
    ];
    return () => stops.forEach((stop) => stop());
  }
}

export const vitals = new Vitals();

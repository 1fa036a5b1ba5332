/** What the header always shows and the live page shows large: is it well, and how much comes in. */
import { api, isAbort, message } from '../lib/api';
import type { Health, Rate, RatePoint } from '../lib/types';
import { poll } from './poll';

class Vitals {
  health: Health | null = $state.raw(null);
  /** Set while the server does not answer. */
  unreachable: string | null = $state(null);
  rate: Rate = $state.raw({ interval_ms: 1000, points: [] });
  /** Steps once a second: ages in tables follow it. */
  now = $state(Date.now());

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
    ];
    return () => stops.forEach((stop) => stop());
  }
}

export const vitals = new Vitals();

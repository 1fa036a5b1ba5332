import type { Rate } from './types';

export const WINDOW_S = 300;

export type Series = [number[], number[], number[], number[]];

/** Time, messages/s, Mbit/s, drops/s: counts of an interval become rates. */
export function series(rate: Rate): Series {
  const per = 1000 / Math.max(1, rate.interval_ms);
  const out: Series = [[], [], [], []];
  for (const p of rate.points) {
    out[0].push(p.t);
    out[1].push(p.messages * per);
    out[2].push((p.bytes * 8 * per) / 1e6);
    out[3].push(p.drops * per);
  }
  return out;
}

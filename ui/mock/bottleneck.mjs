/** Where the time of a running server goes. */
import { rng } from './rng.mjs';

/** Name, threads, activity, share, unit, units per second, batch, ns per unit, queue. */
const STAGES = [
  ['hep.wait', 'shards', 'idle', 0.71, 'turns', 0, null, null, null],
  ['hep.receive', 'shards', 'work', 0.16, 'datagrams', 4200, 38.2, 620, { length: 18_432, limit: 67_108_864, unit: 'bytes in sockets' }],
  ['hep.read', 'shards', 'work', 0.01, 'reads', 61, 1, 3900, null],
  ['hep.decode', 'shards', 'work', 0.07, 'messages', 4261, 37.9, 190, null],
  ['hep.append', 'shards', 'work', 0.04, 'messages', 4261, 37.9, 110, null],
  ['hep.seal', 'shards', 'work', 0.01, 'rows', 4255, 532, 24, null],
  ['hep.held', 'shards', 'held', 0, 'batches', 0, null, null, { length: 21, limit: 160, unit: 'blocks in use' }],
  ['store.wait', 'writers', 'idle', 0.93, 'looks', 0, null, null, null],
  ['store.encode', 'writers', 'work', 0.05, 'rows', 4250, 42_500, 310, { length: 9_437_184, limit: 167_772_160, unit: 'bytes of rows' }],
  ['store.write', 'writers', 'work', 0.005, 'bytes', 880_000, 524_288, 0.4, null],
  ['store.sync', 'writers', 'work', 0.012, 'syncs', 0.4, 1, 4.1e6, null],
  ['store.commit', 'writers', 'work', 0.003, 'files', 0.1, 1, 2.2e6, null],
  ['store.retry', 'writers', 'work', 0, 'tries', 0, null, null, null],
];

function lines(nowMs, slow) {
  return STAGES.map(([stage, threads, activity, share, unit, units_per_s, batch, ns_per_unit, queue], at) => {
    const sway = slow ? 1 : 1 + (rng(Math.floor(nowMs / 1000) + at).int(0, 9) - 4) / 100;
    const slowed = { 'store.sync': 0.94, 'store.wait': 0.001, 'hep.held': 0.4, 'hep.wait': 0.31 };
    const part = slow ? (slowed[stage] ?? share) : share * sway;
    const headroom = activity === 'work' && part > 0 ? 1 / part : null;
    return { stage, threads, activity, share: part, share_of_busiest: part, units_per_s, batch, ns_per_unit, unit, queue, headroom, help: `What ${stage} is about.` };
  });
}

export function bottleneck(nowMs, slow) {
  const report = {
    seconds: 10,
    stage: slow ? 'store.sync' : 'hep.receive',
    limited: slow,
    why: slow
      ? 'store: the busiest writer works 99 % of the time, 95 % of it in store.sync (waiting for the disk to have what was written), and 31 batches wait; receiving is held up 40 % of the time'
      : 'nothing is at its limit; the first to reach it would be hep.receive: the busiest of the shards works 29 % of the time',
    datagrams_lost: 0,
    frames_lost: 0,
    threads: [
      { threads: 'shards', count: 2, busy: 0.29, held: slow ? 0.4 : 0, headroom: slow ? 0.31 : 0.71 },
      { threads: 'writers', count: 1, busy: slow ? 0.99 : 0.07, held: 0, headroom: slow ? 0.01 : 0.93 },
    ],
    stages: lines(nowMs, slow),
  };
  const remedies = slow
    ? [
        { what: 'fewer and larger files: each waits for the disk', command: 'wirelake serve --set lake.flush_s=10' },
        { what: 'put data.dir on a faster disk; it is ./wirelake-data now', command: null },
      ]
    : [];
  return { ...report, remedies, since_start: { ...report, stages: lines(0, false) } };
}

/** How the shards are: their logs, checkpoints and pace. */

import type { Shard } from '../../schemas/admin-types.ts';
import { type Column, Table } from '../parts/table.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { When } from '../parts/when.tsx';
import { duration, whole } from '../state/format.ts';
import { Latest } from './latest.tsx';
import { shards } from './state.ts';
import { bytes, milliseconds, SHARD_WORDS } from './words.ts';

const EVERY_MS = 2000;

export function ShardsView() {
  return (
    <>
      <ViewHead title="Shards" />
      <Latest of={shards} everyMs={EVERY_MS} name="the shards">
        {({ shards: rows }) => (
          <>
            <Table
              caption="Shards"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ shard }) => String(shard)}
            />
            <p class="hint">
              These are the batches of the last {rows[0]?.batches.minutes} minutes that wrote to the
              log. Their time ends when they are on disk. A start replays what came since the
              checkpoint.
            </p>
          </>
        )}
      </Latest>
    </>
  );
}

const NONE = 'none yet';

const COLUMNS: readonly Column<Shard>[] = [
  { head: 'Shard', isHead: true, cell: ({ shard }) => shard },
  {
    head: 'State',
    cell: ({ state, problem }) => (
      <span class="two-lines">
        <span class={state === 'open' ? 'is-gain' : 'is-loss'}>{SHARD_WORDS[state]}</span>
        {problem !== null && <span class="hint">{problem}</span>}
      </span>
    ),
  },
  {
    head: 'Last fact',
    isNumber: true,
    cell: ({ lastFact }) => (lastFact === null ? NONE : whole(lastFact)),
  },
  {
    head: 'Log',
    isNumber: true,
    cell: ({ logBytes }) => (logBytes === null ? NONE : bytes(logBytes)),
  },
  {
    head: 'Since the checkpoint',
    isNumber: true,
    cell: ({ factsSinceCheckpoint: facts }) => (facts === null ? NONE : `${whole(facts)} facts`),
  },
  {
    head: 'Checkpoint age',
    isNumber: true,
    cell: ({ checkpointAgeMs }) => (checkpointAgeMs === null ? NONE : duration(checkpointAgeMs)),
  },
  { head: 'Batches', isNumber: true, cell: ({ batches }) => whole(batches.count) },
  { head: 'Median', isNumber: true, cell: ({ batches }) => pace(batches.p50Ms) },
  { head: '99th percentile', isNumber: true, cell: ({ batches }) => pace(batches.p99Ms) },
  {
    head: 'Queue',
    isNumber: true,
    cell: ({ queued, queuedMax }) => `${whole(queued)} of ${whole(queuedMax)}`,
  },
  {
    head: 'Last failure',
    cell: ({ lastFailure }) =>
      lastFailure === null ? (
        'none'
      ) : (
        <>
          <When iso={lastFailure.at} />: {lastFailure.reason}
        </>
      ),
  },
];

function pace(ms: number | null): string {
  return ms === null ? NONE : milliseconds(ms);
}

/** How many requests and orders are allowed, and how much of that is used. */
import { useEffect } from 'preact/hooks';
import type { Usage } from '../../../client/generated.js';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { duration, whole } from '../../state/format.ts';
import { type LimitRow, limitRows } from '../../state/settings-words.ts';
import { followUsage, loadUsage, usage } from '../../state/usage.ts';

const ROWS = 8;

export function Limits() {
  useEffect(followUsage, []);
  return (
    <section class="section">
      <h2>Limits used</h2>
      <Loading
        of={usage.value}
        skeleton={<Skeleton lines={ROWS} of="the limits" />}
        again={() => void loadUsage()}
      >
        {(value) => <Rows usage={value} />}
      </Loading>
    </section>
  );
}

function Rows({ usage: value }: { usage: Usage }) {
  return (
    <>
      <p class="hint">
        Plan {value.plan}.{' '}
        {value.enforced
          ? 'A request over its limit is refused.'
          : 'Requests are counted. Requests over the limit are answered, too.'}{' '}
        Orders over their limits are refused. Minutes, days and months follow UTC.
      </p>
      <Table
        caption="Limits used"
        columns={COLUMNS}
        rows={limitRows(value)}
        keyOf={({ what }) => what}
      />
      {value.trading === null && (
        <p class="hint">The limits of orders cannot be read now: a part of the engine restarts.</p>
      )}
    </>
  );
}

const COLUMNS: readonly Column<LimitRow>[] = [
  { head: 'What', isHead: true, cell: ({ what }) => what },
  { head: 'Used', isNumber: true, cell: ({ used }) => whole(used) },
  { head: 'Limit', isNumber: true, cell: ({ limit }) => whole(limit) },
  {
    head: 'Left',
    isNumber: true,
    isWide: true,
    cell: ({ used, limit }) => whole(Math.max(0, limit - used)),
  },
  {
    head: 'Resets in',
    isNumber: true,
    isWide: true,
    cell: ({ resetSeconds }) => duration(resetSeconds * 1000),
  },
];

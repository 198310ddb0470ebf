/** New markets that the server found at venues. Rule O28 (api/RULES.md). */
import type { DiscoveryEntry } from '../../schemas/admin-types.ts';
import { type Column, Table } from '../parts/table.tsx';
import { When } from '../parts/when.tsx';
import { whole } from '../state/format.ts';
import { Latest } from './latest.tsx';
import { discovery } from './state.ts';
import { VenueAddress } from './venue-address.tsx';

const EVERY_MS = 5000;

export function DiscoveryPanel() {
  return (
    <Latest of={discovery} everyMs={EVERY_MS} name="what was discovered">
      {({ entries, discovered, retired }) =>
        entries.length > 0 && (
          <section aria-label="Discovery">
            <Table caption="Discovery of markets" columns={COLUMNS} rows={entries} keyOf={keyOf} />
            <p class="hint">
              {whole(discovered)} instruments found and listed, {whole(retired)} retired.
            </p>
          </section>
        )
      }
    </Latest>
  );
}

const keyOf = ({ entry }: DiscoveryEntry) => String(entry);

const COLUMNS: readonly Column<DiscoveryEntry>[] = [
  {
    head: 'List',
    isHead: true,
    cell: (entry) => <VenueAddress {...entry} />,
  },
  {
    head: 'Last run',
    cell: ({ lastRunAt }) => (lastRunAt === null ? 'not yet' : <When iso={lastRunAt} />),
  },
  { head: 'Found', isNumber: true, cell: ({ found }) => whole(found) },
  { head: 'Added', isNumber: true, cell: ({ added }) => whole(added) },
  { head: 'Changed', isNumber: true, cell: ({ changed }) => whole(changed) },
  { head: 'Joined', isNumber: true, cell: ({ joined }) => whole(joined) },
  { head: 'Left out', cell: ({ leftOut }) => reasonsOf(leftOut) },
  {
    head: 'Problem',
    cell: ({ problem, incomplete }) => problem ?? (incomplete && `Incomplete: ${incomplete}`),
  },
];

function reasonsOf(leftOut: DiscoveryEntry['leftOut']): string {
  return Object.entries(leftOut)
    .map(([reason, count]) => `${whole(count)} ${reason}`)
    .join('; ');
}

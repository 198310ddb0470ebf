/** Venue connections as they are now. */

import type { Feed } from '../../schemas/admin-types.ts';
import { Empty } from '../parts/notice.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { When } from '../parts/when.tsx';
import { duration, whole } from '../state/format.ts';
import { DiscoveryPanel } from './discovery.tsx';
import { Latest } from './latest.tsx';
import { feeds } from './state.ts';
import { VenueAddress } from './venue-address.tsx';
import { connectedWords, feedWords, rejectedWords } from './words.ts';

const EVERY_MS = 2000;

export function FeedsView() {
  return (
    <>
      <ViewHead title="Feeds" />
      <Latest of={feeds} everyMs={EVERY_MS} name="the feeds">
        {({ feeds: rows }) =>
          rows.length === 0 ? (
            <Empty>
              This server has no feeds, and so no live prices. PAPERBOOK_FEEDS names the venues that
              it connects to.
            </Empty>
          ) : (
            <>
              <p class="sr" role="status">
                {connectedWords(rows)}
              </p>
              <Table caption="Connections to venues" columns={COLUMNS} rows={rows} keyOf={keyOf} />
              <Remarks rows={rows} />
            </>
          )
        }
      </Latest>
      <DiscoveryPanel />
    </>
  );
}

/** An entry may have several connections. */
const keyOf = ({ entry, url }: Feed) => `${entry} ${url}`;

const COLUMNS: readonly Column<Feed>[] = [
  {
    head: 'Feed',
    isHead: true,
    cell: (feed) => <VenueAddress {...feed} />,
  },
  {
    head: 'State',
    cell: (feed) => (
      <span class="two-lines">
        <span class={feed.state === 'open' ? 'is-gain' : 'is-loss'}>{feedWords(feed)}</span>
        <span class="hint">
          since <When iso={feed.since} />
        </span>
      </span>
    ),
  },
  {
    head: 'Lag',
    isNumber: true,
    cell: ({ lagMs }) => (lagMs === null ? 'not known' : duration(lagMs)),
  },
  { head: 'Frames', isNumber: true, cell: ({ frames }) => whole(frames) },
  { head: 'Gaps', isNumber: true, cell: ({ gaps }) => whole(gaps) },
  { head: 'Reconnects', isNumber: true, cell: ({ reconnects }) => whole(reconnects) },
  { head: 'Subscribed', isNumber: true, cell: ({ subscribed }) => whole(subscribed) },
  { head: 'Without a quote', isNumber: true, cell: ({ unquoted }) => whole(unquoted) },
  { head: 'Rejected frames', cell: ({ rejected }) => rejectedWords(rejected) },
];

/** Fields that do not fit into a row. */
function Remarks({ rows }: { rows: readonly Feed[] }) {
  const found = rows.filter(
    (feed) => isDown(feed) || feed.missedStatesProblem !== null || feed.unquotedMarkets.length > 0,
  );
  return (
    <>
      {found.map((feed) => (
        <section key={keyOf(feed)} class="panel" aria-label={`${feed.venue}, in detail`}>
          <h2>{feed.venue}</h2>
          <LastProblem of={feed} />
          {feed.missedStatesProblem !== null && (
            <p>Missed results cannot be asked for: {feed.missedStatesProblem}</p>
          )}
          {feed.unquotedMarkets.length > 0 && (
            <p>
              {whole(feed.unquoted)} without a quote yet: <MarketNames of={feed.unquotedMarkets} />
              {feed.unquoted > feed.unquotedMarkets.length && ' and more'}
            </p>
          )}
        </section>
      ))}
    </>
  );
}

/** It is over once the connection is open again, and then it goes. Rule O22 (api/RULES.md). */
function LastProblem({ of: feed }: { of: Feed }) {
  if (!isDown(feed)) return null;
  return (
    <p class="is-loss">
      Last problem: {feed.lastProblem}, <When iso={feed.lastProblemAt!} />
    </p>
  );
}

function isDown({ state, lastProblem, lastProblemAt }: Feed): boolean {
  return state !== 'open' && lastProblem !== null && lastProblemAt !== null;
}

export function MarketNames({ of }: { of: readonly string[] }) {
  return <code>{of.join(', ')}</code>;
}

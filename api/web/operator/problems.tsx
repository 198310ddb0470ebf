/** The present problems, and the log's recent warnings. */

import type { LogLine, Ready } from '../../schemas/admin-types.ts';
import { Empty, Notice } from '../parts/notice.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { When } from '../parts/when.tsx';
import { counted, whole } from '../state/format.ts';
import { MarketNames } from './feeds.tsx';
import { Latest } from './latest.tsx';
import { health } from './state.ts';
import { feedWords, healthWords } from './words.ts';

const EVERY_MS = 5000;

export function ProblemsView() {
  return (
    <>
      <ViewHead title="Problems" />
      <Latest of={health} everyMs={EVERY_MS} name="the health of the server">
        {({ problems, log, ready, notReady }) => (
          <>
            <p class="sr" role="status">
              {healthWords(problems, notReady)}
            </p>
            <Health problems={problems} />
            {ready === null ? (
              <Notice kind="error">
                <h2>Not ready</h2>
                <p>{notReady}</p>
              </Notice>
            ) : (
              <Readiness ready={ready} />
            )}
            <h2>The log since the start</h2>
            {log.length === 0 ? (
              <Empty>The log has no warning or error since the start of the server.</Empty>
            ) : (
              <Table
                caption="Warnings and errors, latest first"
                columns={COLUMNS}
                rows={log}
                keyOf={({ firstAt, message }) => `${firstAt} ${message}`}
              />
            )}
          </>
        )}
      </Latest>
    </>
  );
}

function Health({ problems }: { problems: readonly string[] }) {
  if (problems.length === 0) {
    return (
      <Notice>
        <h2>Healthy</h2>
        <p>No problem is known.</p>
      </Notice>
    );
  }
  return (
    <Notice kind="error">
      <h2>{counted(problems.length, 'problem')} now</h2>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </Notice>
  );
}

function Readiness({ ready: { feeds, unquoted } }: { ready: Ready }) {
  return (
    <Notice>
      <h2>Ready</h2>
      <p>Every shard accepts requests.</p>
      {feeds.length > 0 && (
        <ul>
          {feeds.map((feed, at) => (
            <li key={at}>
              {feed.venue} ({feed.adapter}, {feed.host}): {feedWords(feed)}, since{' '}
              <When iso={feed.since} />. {feed.lastProblem}
            </li>
          ))}
        </ul>
      )}
      {unquoted.count > 0 && (
        <p>
          {counted(unquoted.count, 'market')} without a quote yet:{' '}
          <MarketNames of={unquoted.markets} />
          {unquoted.count > unquoted.markets.length && ' and more'}
        </p>
      )}
    </Notice>
  );
}

const COLUMNS: readonly Column<LogLine>[] = [
  { head: 'Last', cell: ({ at }) => <When iso={at} /> },
  { head: 'Times', isNumber: true, cell: ({ times }) => whole(times) },
  { head: 'Level', cell: ({ level }) => (level === 'warn' ? 'warning' : 'error') },
  { head: 'Message', isHead: true, cell: ({ message }) => message },
  {
    head: 'Details',
    cell: ({ details }) => (
      <code class="details">
        {Object.entries(details)
          .map(([name, value]) => `${name}=${value}`)
          .join(' ')}
      </code>
    ),
  },
];

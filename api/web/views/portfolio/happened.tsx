/** The events of the account, as they happen. */
import { Empty } from '../../parts/notice.tsx';
import { When } from '../../parts/when.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { eventWords, type ShownEvent } from '../../state/event-words.ts';
import { shownEvents } from '../../state/shown-account.ts';
import { pnlWords } from '../../state/trade-words.ts';

export function Happened({ account }: { account: AccountId }) {
  const { value: events } = shownEvents;
  return (
    <section class="happened">
      <h2>Activity</h2>
      {events.length === 0 && (
        <Empty>
          {account === null
            ? 'Orders, fills, sales and results of this visit appear here, from every client.'
            : 'The activity of the organization during this visit appears here.'}
        </Empty>
      )}
      {/* A scrolling part must be reached by keyboard. */}
      <div
        class="happened-list"
        role="log"
        aria-label="Activity"
        tabIndex={events.length === 0 ? undefined : 0}
      >
        <ol>
          {events.map((event) => (
            <Line key={event.eventId} event={event} />
          ))}
        </ol>
      </div>
    </section>
  );
}

function Line({ event }: { event: ShownEvent }) {
  const { what, detail, pnlDollars } = eventWords(event);
  return (
    <li>
      <p>
        <When iso={event.at} as="seconds" /> <strong>{what}</strong>
        {pnlDollars !== null && (
          <span class={pnlDollars > 0 ? 'is-gain' : pnlDollars < 0 ? 'is-loss' : ''}>
            {' '}
            {pnlWords(pnlDollars)}
          </span>
        )}
      </p>
      <p class="hint">{detail}</p>
    </li>
  );
}

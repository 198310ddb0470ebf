/** The displayed levels of the book, and the latest prints. Rule U41 (api/RULES.md). */
import { Fragment } from 'preact';
import { useRef } from 'preact/hooks';
import type { Book } from '../../../client/generated.js';
import { useAgain } from '../../parts/again.ts';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Empty } from '../../parts/notice.tsx';
import { useOnScreen } from '../../parts/on-screen.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { CallError } from '../../state/call-error.ts';
import { cents, whole } from '../../state/format.ts';
import { loadLadder, shownLadder } from '../../state/ladder.ts';
import { hasDepth, rungsOf, spreadOf } from '../../state/ladder-rungs.ts';
import { VENUE_WORDS } from '../../state/order-words.ts';
import type { Print } from '../../state/print-text.ts';
import { loadPrints, shownPrints } from '../../state/prints.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import { venueData } from '../../state/venue-data.ts';
import { isVisitor } from '../../state/visitor.ts';
import { usePaceMs } from './pace.ts';

type Props = {
  instrumentId: string;
  quote: ShownQuote | null;
  /** A level is chosen as the limit of an order; null: nothing is ordered here. */
  onPrice: ((cents: number) => void) | null;
};

/** For a market that has only the best prices. */
const FLAT_EVERY_MS = 30_000;
const PRINTS_EVERY_MS = 5000;

export function Depth(props: Props) {
  if (venueData.value === false) return null;
  return (
    <div class="depth">
      <Ladder {...props} />
      {/* Their list is an export, which visitors do not get. */}
      {!isVisitor.value && <Prints instrumentId={props.instrumentId} quote={props.quote} />}
    </div>
  );
}

function Ladder({ instrumentId, onPrice }: Props) {
  const place = useRef<HTMLElement>(null);
  const isShown = useOnScreen(place);
  const now = shownLadder(instrumentId);
  const isDeep = now.state === 'ready' && hasDepth(now.value);
  const paceMs = usePaceMs();
  const everyMs = isDeep ? paceMs : FLAT_EVERY_MS;
  useAgain(instrumentId, isShown ? everyMs : null, () => loadLadder(instrumentId));
  return (
    <section ref={place} aria-label="Levels">
      <h2>Levels</h2>
      <Loading
        of={now}
        skeleton={<Skeleton lines={4} of="the levels" />}
        again={() => void loadLadder(instrumentId)}
      >
        {(book) =>
          hasDepth(book) ? (
            <Levels book={book} onPrice={onPrice} />
          ) : (
            <Empty>
              Only the best prices are kept. This server fills orders of any size at them, or the
              venue shows no other level.
            </Empty>
          )
        }
      </Loading>
    </section>
  );
}

type LevelsProps = { book: Book; onPrice: Props['onPrice'] };

/** Asks above bids, each with a bar of what there is up to it. Rule U41. */
function Levels({ book, onPrice }: LevelsProps) {
  const rungs = rungsOf(book);
  const spread = spreadOf(book);
  return (
    <table class="ladder">
      <caption class="sr">Displayed levels of {VENUE_WORDS[book.venue ?? 'venue_a']}</caption>
      <thead>
        <tr>
          <th scope="col">Price of yes</th>
          <th scope="col">Contracts</th>
          <th scope="col">In total</th>
        </tr>
      </thead>
      <tbody>
        {rungs.map((rung, at) => (
          <Fragment key={`${rung.side} ${rung.cents}`}>
            {rung.side === 'bid' && rungs[at - 1]?.side !== 'bid' && (
              <tr class="ladder-spread">
                <td colSpan={3}>
                  {spread === null ? 'One side is empty' : `Spread ${cents(spread)}`}
                </td>
              </tr>
            )}
            <tr class={`is-${rung.side}`} style={{ '--share': `${rung.sharePct}%` }}>
              <th scope="row">
                {onPrice === null ? (
                  cents(rung.cents)
                ) : (
                  <button type="button" onClick={() => onPrice(rung.cents)}>
                    <span class="sr">Buy yes at the {rung.side === 'ask' ? 'ask' : 'bid'} of </span>
                    {cents(rung.cents)}
                  </button>
                )}
              </th>
              <td>{whole(rung.contracts)}</td>
              <td>{whole(rung.total)}</td>
            </tr>
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

type PrintsProps = Omit<Props, 'onPrice'>;

function Prints({ instrumentId, quote }: PrintsProps) {
  const main = quote?.quote.venues.find(({ venue }) => venue === 'venue_a') ?? null;
  const lastAt = main?.lastTradeAt ?? null;
  const latest = useRef(lastAt);
  latest.current = lastAt;
  const loadedAt = useRef<string | null>(null);
  // A print changes the quote; several together are asked for once.
  useAgain(instrumentId, lastAt === null ? null : PRINTS_EVERY_MS, async () => {
    if (latest.current === null || latest.current === loadedAt.current) return;
    loadedAt.current = latest.current;
    await loadPrints(instrumentId, latest.current);
  });
  return (
    <section aria-label="Last trades">
      <h2>Last trades</h2>
      {lastAt === null ? (
        <Empty>No trade of the venue has come yet since it was connected.</Empty>
      ) : (
        <PrintRows instrumentId={instrumentId} quote={quote} />
      )}
    </section>
  );
}

function PrintRows({ instrumentId, quote }: PrintsProps) {
  const now = shownPrints(instrumentId);
  if (now.state === 'failed' && now.error instanceof CallError) {
    // History that is off keeps no print.
    return <LastAlone quote={quote} />;
  }
  return (
    <Loading of={now} skeleton={<Skeleton lines={6} of="the last trades" />}>
      {({ rows }) =>
        rows.length === 0 ? (
          <LastAlone quote={quote} />
        ) : (
          <Table
            caption="Trades of the venue"
            columns={PRINT_COLUMNS}
            rows={rows.map((print, at) => ({ ...print, at: print.at, row: rows.length - at }))}
            keyOf={({ at, row }) => `${at} ${row}`}
          />
        )
      }
    </Loading>
  );
}

const PRINT_COLUMNS: readonly Column<Print & { row: number }>[] = [
  { head: 'At', isHead: true, cell: ({ at }) => <When iso={at} as="seconds" /> },
  { head: 'Price of yes', isNumber: true, cell: ({ yesPriceCents }) => cents(yesPriceCents) },
  { head: 'Contracts', isNumber: true, cell: ({ contracts }) => whole(contracts) },
  {
    head: 'Taker',
    cell: ({ side }) => <span class={side === 'yes' ? 'is-gain' : 'is-loss'}>bought {side}</span>,
  },
];

/** The quote knows the last trade of each side, and no sizes. */
function LastAlone({ quote }: { quote: ShownQuote | null }) {
  const main = quote?.quote.venues.find(({ venue }) => venue === 'venue_a');
  if (main === undefined) return <Empty>There is no quote now, and so no last trade.</Empty>;
  const sides = (['yes', 'no'] as const)
    .map((side) => ({ side, ...main.outcomeLastTrades[side] }))
    .filter(({ priceCents, at }) => priceCents !== null && at !== null);
  return (
    <>
      <ul class="events">
        {sides.map(({ side, priceCents, at }) => (
          <li key={side}>
            <When iso={at!} as="seconds" /> A taker bought {side} at {cents(priceCents!)}.
          </li>
        ))}
      </ul>
      <p class="hint">Only the last trade of each side is shown: no history has the others.</p>
    </>
  );
}

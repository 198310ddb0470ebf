/** The name of a market, whether it trades, and its present price or its result. Rule U52 (api/RULES.md). */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Instrument, VenueQuote } from '../../../client/generated.js';
import { Label } from '../../parts/name.tsx';
import { useNow } from '../../parts/now.ts';
import { Price } from '../../parts/price.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { When } from '../../parts/when.tsx';
import { cents, counted, fromNow, money, whole } from '../../state/format.ts';
import { lostAtMs } from '../../state/live.ts';
import type { Market } from '../../state/market.ts';
import { chanceOf } from '../../state/market-day.ts';
import { type MarketStatus, marketStatus } from '../../state/market-status.ts';
import { VENUE_WORDS } from '../../state/order-words.ts';
import { dropped, useQuote } from '../../state/quotes.ts';
import { resultSentence, resultWord } from '../../state/result-words.ts';
import { hrefOf } from '../../state/route-text.ts';
import { serverNowMs } from '../../state/server-time.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import { GAME_STATUS_WORDS } from '../markets/game-card.tsx';

type Props = { market: Market; quote: ShownQuote | null };

export function MarketHead({ market, quote }: Props) {
  const { instrument, game } = market;
  // The ages of the shown values.
  useNow(1000);
  const nowMs = serverNowMs();
  const { label, league, startsAt, yesMeans } = instrument;
  const startsIso = game?.startsAt ?? startsAt;
  return (
    <header class="market-head">
      <p class="market-of">
        <span>{league.toUpperCase()}</span>
        {game !== null && (
          <span>
            {game.away.name} at {game.home.name}
          </span>
        )}
        <span>
          {Date.parse(startsIso) > nowMs ? 'Starts' : 'Started'} <When iso={startsIso} /> (
          {fromNow(startsIso, nowMs)})
        </span>
        {game !== null && <span>{GAME_STATUS_WORDS[game.status]}</span>}
      </p>
      <ViewHead title={label} />
      <p class="hint">Yes: {yesMeans}.</p>
      <Now market={market} quote={quote} nowMs={nowMs} />
      <OtherVenues quote={quote} nowMs={nowMs} />
      <Others others={market.others} />
    </header>
  );
}

function Now({ market, quote, nowMs }: Props & { nowMs: number }) {
  const main = quote?.quote.venues.find(({ venue }) => venue === 'venue_a') ?? null;
  const chance = quote === null ? null : chanceOf(quote);
  const result = quote?.quote.result;
  if (result !== undefined) {
    return (
      <dl class="market-now is-over">
        <Status market={market} quote={quote} nowMs={nowMs} />
        <Figure name="A contract of yes paid">
          <strong>{paidText(result.yesPaysCents)}</strong>
        </Figure>
        <Figure name="A contract of no paid">
          <strong>
            {paidText(result.yesPaysCents === null ? null : 100 - result.yesPaysCents)}
          </strong>
        </Figure>
      </dl>
    );
  }
  return (
    <dl class="market-now">
      <Status market={market} quote={quote} nowMs={nowMs} />
      <Figure name="Chance of yes">
        <strong>{chance === null ? '–' : `${chance}%`}</strong>
        <small>{main === null ? 'no quote' : `quoted ${fromNow(main.asOf, nowMs)}`}</small>
      </Figure>
      <Figure name="Yes bid">
        <Price
          price={quote?.bidCents ?? null}
          move={quote?.bidMove ?? null}
          why={quote?.note ?? null}
        />
        <small>{sizeText(main?.yesBidContracts ?? null)}</small>
      </Figure>
      <Figure name="Yes ask">
        <Price
          price={quote?.askCents ?? null}
          move={quote?.askMove ?? null}
          why={quote?.note ?? null}
        />
        <small>{sizeText(main?.yesAskContracts ?? null)}</small>
      </Figure>
      <Figure name="Last trade">
        <Price price={main?.lastTradeCents ?? null} why="none yet" />
        <small>{main?.lastTradeAt ? fromNow(main.lastTradeAt, nowMs) : 'none yet'}</small>
      </Figure>
    </dl>
  );
}

/** Null: it is void. */
function paidText(paidCents: number | null): string {
  return paidCents === null ? 'its cost' : money(paidCents / 100);
}

type FigureProps = { name: string; children: ComponentChildren };

function Figure({ name, children }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Status({ market, quote, nowMs }: Props & { nowMs: number }) {
  const { instrument, game, isTradable } = market;
  const gameStatus = game?.status ?? instrument.gameStatus;
  const { word, detail, opensAt } = marketStatus({
    ...{ quote, instrument, gameStatus, isTradable },
    isDropped: dropped.value.has(instrument.id),
    isLost: lostAtMs.value !== null,
  });
  // What is shown stays true while the connection is lost, but whether it trades is not known then.
  const result = word === 'Resolved' ? (quote?.quote.result ?? null) : null;
  return (
    <div class="market-status">
      <dt>Market</dt>
      <dd>
        <strong class={STATUS_CLASSES[word] ?? ''}>
          {word}
          {result !== null && `: ${resultWord(result)}`}
        </strong>
        {opensAt !== null && (
          <small>
            Opens <When iso={opensAt} /> ({fromNow(opensAt, nowMs)})
          </small>
        )}
        {result !== null ? (
          <small>{resultSentence(result, instrument)}</small>
        ) : (
          detail !== null && <small>{detail}</small>
        )}
      </dd>
    </div>
  );
}

const STATUS_CLASSES: Partial<Record<MarketStatus['word'], string>> = {
  Tradable: 'is-gain',
  'No live price': 'is-muted',
  'Not known': 'is-muted',
};

function sizeText(contracts: number | null): string {
  return contracts === null ? 'none' : counted(contracts, 'contract');
}

type VenueRow = { venue: VenueQuote['venue']; quote: VenueQuote | null; note: string | null };

/** Where an order with routing best may fill, too. */
function OtherVenues({ quote, nowMs }: { quote: ShownQuote | null; nowMs: number }) {
  const isOver = quote?.quote.result !== undefined;
  const rows = quote === null || isOver ? [] : venueRows(quote);
  if (rows.length === 0) return null;
  const columns: readonly Column<VenueRow>[] = [
    { head: 'Other venues', isHead: true, cell: ({ venue }) => VENUE_WORDS[venue] },
    {
      head: 'Bid',
      isNumber: true,
      cell: ({ quote: of }) => sideText(of?.yesBidCents, of?.yesBidContracts),
    },
    {
      head: 'Ask',
      isNumber: true,
      cell: ({ quote: of }) => sideText(of?.yesAskCents, of?.yesAskContracts),
    },
    {
      head: 'Quoted',
      cell: ({ quote: of, note }) => (of === null ? note : fromNow(of.asOf, nowMs)),
    },
  ];
  return (
    <div class="market-venues">
      <Table
        caption="Quotes of other venues"
        columns={columns}
        rows={rows}
        keyOf={({ venue }) => venue}
      />
    </div>
  );
}

function venueRows({ quote: { venues, omitted } }: ShownQuote): VenueRow[] {
  return [
    ...venues.map((one) => ({ venue: one.venue, quote: one, note: null })),
    ...omitted.map(({ venue, note }) => ({ venue, quote: null, note })),
  ].filter(({ venue }) => venue !== 'venue_a');
}

function sideText(price: number | null | undefined, contracts: number | null | undefined): string {
  return price == null ? 'none' : `${cents(price)} × ${whole(contracts ?? 0)}`;
}

function Others({ others }: { others: readonly Instrument[] }) {
  const [isOpen, setOpen] = useState(false);
  if (others.length === 0) return null;
  return (
    <details class="market-others" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{counted(others.length, 'other market')} of this game</summary>
      <ul>
        {others.map((one, at) => (
          <Other key={one.id} of={one} isQuoted={isOpen && at < QUOTED_MAX} />
        ))}
      </ul>
    </details>
  );
}

/** Of more markets the quotes would leave no room for those of a view. */
const QUOTED_MAX = 40;

/** A market of the same game, with its chance or its result. */
function Other({ of: { id, label }, isQuoted }: { of: Instrument; isQuoted: boolean }) {
  const quote = useQuote(isQuoted ? id : null);
  const result = quote?.quote.result;
  const chance = quote === null ? null : chanceOf(quote);
  return (
    <li>
      <a href={hrefOf('market', id)}>
        <Label text={label} />
      </a>
      {result !== undefined ? (
        <strong>{resultWord(result)}</strong>
      ) : (
        chance !== null && <strong>{chance}%</strong>
      )}
    </li>
  );
}

/** A market: its prices, and the actions on it. Rules U39, U57 (api/RULES.md). */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Price } from '../../parts/price.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { CallError } from '../../state/call-error.ts';
import { forgetLadder } from '../../state/ladder.ts';
import { followGame, forgetMarket, loadMarket, type Market, marketOf } from '../../state/market.ts';
import { askOfSide } from '../../state/market-day.ts';
import { forgetTicket } from '../../state/ordering.ts';
import { forgetPriceHistory } from '../../state/price-history.ts';
import { forgetPrints } from '../../state/prints.ts';
import { dropped, useQuote } from '../../state/quotes.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import { followAccount, loadOrganizations } from '../../state/shown-account.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import { NEW_TICKET, type Ticket } from '../../state/ticket.ts';
import { venueData } from '../../state/venue-data.ts';
import { isVisitor } from '../../state/visitor.ts';
import { Holdings } from './holdings.tsx';
import { MarketHead } from './market-head.tsx';
import { Depth } from './order-book.tsx';
import { PriceChart } from './price-chart.tsx';
import { TicketForm } from './ticket-form.tsx';
import { VisitorTicket } from './visitor-ticket.tsx';

export function MarketView({ param, query }: ViewProps) {
  useEffect(() => {
    void loadMarket(param);
    if (!isVisitor.peek()) void loadOrganizations();
    const unfollow = followGame();
    return () => {
      unfollow();
      for (const forget of FORGOTTEN) forget();
    };
  }, [param]);
  const now = marketOf(param);
  if (now.state === 'failed' && isUnknown(now.error)) return <UnknownMarket />;
  return (
    <Loading of={now} skeleton={<MarketSkeleton />} again={() => void loadMarket(param)}>
      {(found) => <OpenMarket key={found.instrument.id} market={found} {...{ param, query }} />}
    </Loading>
  );
}

const FORGOTTEN = [forgetMarket, forgetPriceHistory, forgetPrints, forgetLadder, forgetTicket];

function OpenMarket({ market: found, param, query }: { market: Market } & ViewProps) {
  const { id } = found.instrument;
  const quote = useQuote(id);
  const side = sideOf(query);
  const [isTicketOpen, setTicketOpen] = useState(side !== null);
  const [ticket, setTicket] = useState<Ticket>({ ...NEW_TICKET, side: side ?? 'yes' });
  useEffect(() => {
    if (side !== null) setTicket((before) => ({ ...before, action: 'buy', side }));
  }, [side]);
  const openTicket = (next: Partial<Ticket>) => {
    setTicket({ ...ticket, ...next });
    setTicketOpen(true);
    // Once it is drawn: on a phone it was not there before.
    requestAnimationFrame(goToTicket);
  };
  const closeTicket = () => {
    setTicketOpen(false);
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.buy-bar .bet')?.focus());
  };
  const isOn = venueData.value;
  const isDropped = dropped.value.has(id);
  useReloads(param, quote);
  const isLooking = isVisitor.value;
  const isOver = quote?.quote.result !== undefined;
  const { status } = found.game ?? { status: null };
  // The quote arrives later than the game.
  const isPast = quote === null ? status === 'final' || status === 'cancelled' : isOver;
  useEffect(() => (isLooking ? undefined : followAccount(ticket.account)), [ticket.account]);
  return (
    <>
      <MarketHead market={found} quote={quote} />
      {isDropped && (
        <Notice kind="warning">
          <p>
            This market has left the catalog: it has no quotes and takes no buys. Positions in it
            are kept, can be sold, and settle.
          </p>
        </Notice>
      )}
      {isOn === false && (
        <Notice kind="warning">
          <p>
            Venue data is off: the operator of this server shows no venue prices now. Orders can be
            placed, and fill at prices that are not shown.
          </p>
        </Notice>
      )}
      <div class="market">
        <div class="market-chart">
          <PriceChart instrumentId={id} quote={quote} isOver={isPast} query={query} param={param} />
        </div>
        {isOver ? (
          <EndedTicket />
        ) : isLooking ? (
          <VisitorTicket quote={quote} side={ticket.side} />
        ) : (
          <TicketForm
            instrument={found.instrument}
            quote={quote}
            ticket={ticket}
            isOpen={isTicketOpen}
            onChange={setTicket}
            onClose={closeTicket}
          />
        )}
        <div class="market-rest">
          {!isLooking && (
            <Holdings
              instrumentId={id}
              account={ticket.account}
              quote={quote}
              isOver={isOver}
              onSell={(tradeId) => {
                openTicket({ action: 'sell', tradeId, bound: '' });
              }}
            />
          )}
          {!isDropped && !isOver && (
            <Depth
              instrumentId={id}
              quote={quote}
              onPrice={
                isLooking
                  ? null
                  : (limit) =>
                      openTicket({
                        ...{ action: 'buy', side: 'yes', type: 'limit', limit: String(limit) },
                      })
              }
            />
          )}
        </div>
      </div>
      {!isLooking && !isOver && !isTicketOpen && (
        <BuyBar quote={quote} onPick={(picked) => openTicket({ action: 'buy', side: picked })} />
      )}
    </>
  );
}

/** In place of the ticket, once nothing can be traded. Rule U52. */
function EndedTicket() {
  return (
    <section id="ticket" class="ticket is-open" aria-label="Order ticket" tabIndex={-1}>
      <h2>Trading has ended</h2>
      <p>
        The market has its result, and positions in it are paid.{' '}
        <a href={hrefOf('markets')}>Find another market</a>
      </p>
    </section>
  );
}

/** The side that the address names, as the buttons of a card do; null: none. */
function sideOf({ side }: ViewProps['query']): 'yes' | 'no' | null {
  return side === 'yes' || side === 'no' ? side : null;
}

/** The known data of a market changes with the switch, and once it opens. */
function useReloads(param: string, quote: ShownQuote | null): void {
  const now = { isOn: venueData.value, isWaiting: quote?.note?.startsWith('opens at') ?? false };
  const { isOn, isWaiting } = now;
  const seen = useRef(now);
  useEffect(() => {
    const before = seen.current;
    seen.current = { isOn, isWaiting };
    const isSwitched = before.isOn !== null && before.isOn !== isOn;
    if (isSwitched || (before.isWaiting && !isWaiting)) void loadMarket(param);
  }, [isOn, isWaiting, param]);
}

type BarProps = { quote: ShownQuote | null; onPick(side: 'yes' | 'no'): void };

/** On a phone, what both sides cost, where a thumb is; it opens the ticket. Rule U39. */
function BuyBar({ quote, onPick }: BarProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: two buttons are no set of fields
    <div class="buy-bar" role="group" aria-label="Buy">
      {(['yes', 'no'] as const).map((side) => {
        const price = quote === null ? null : askOfSide(side, quote);
        return (
          <button key={side} type="button" class={`bet is-${side}`} onClick={() => onPick(side)}>
            Buy {side} <Price price={price} />
          </button>
        );
      })}
    </div>
  );
}

/** The ticket is beside, or far above: the focus moves there from elsewhere. */
function goToTicket(): void {
  const ticket = document.getElementById('ticket')!;
  ticket.focus({ preventScroll: true });
  ticket.scrollIntoView({ block: 'nearest' });
}

function isUnknown(error: unknown): boolean {
  return error instanceof CallError && error.code === 'instrument_not_found';
}

function UnknownMarket() {
  return (
    <>
      <ViewHead title="Market" />
      <Notice>
        <p>
          No market has this name, or it has left the catalog after its end. Your positions are in
          your <a href={hrefOf('portfolio')}>portfolio</a>. Open markets are in the{' '}
          <a href={hrefOf('markets')}>markets</a>.
        </p>
      </Notice>
    </>
  );
}

function MarketSkeleton() {
  return (
    <div class="market-skeleton">
      <Skeleton lines={4} of="this market" />
      <div class="market">
        <div class="market-chart is-skeleton" />
        <div class="ticket is-skeleton" />
      </div>
    </div>
  );
}

/**
 * Past prices of a range, continued live, with the own trades; where there was none, and why.
 * Rules U46, U76 (api/RULES.md).
 */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Interval } from '../../../client/generated.js';
import { Chart } from '../../parts/chart.tsx';
import type { ChartData } from '../../parts/chart-plot.ts';
import { Choice } from '../../parts/choice.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Empty } from '../../parts/notice.tsx';
import { useNow } from '../../parts/now.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { events } from '../../state/account.ts';
import { CallError } from '../../state/call-error.ts';
import { instrumentOf } from '../../state/event-words.ts';
import { cents, clock, counted, duration } from '../../state/format.ts';
import { connection, lostAtMs } from '../../state/live.ts';
import { forgetMarketTrades, loadMarketTrades, marketTrades } from '../../state/market-trades.ts';
import { carriedTo, INTERVALS } from '../../state/price-bars.ts';
import {
  carryPriceOn,
  loadPriceHistory,
  type PriceHistory,
  priceHistoryOf,
} from '../../state/price-history.ts';
import { replace } from '../../state/route.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import { serverNowMs } from '../../state/server-time.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import { venueData } from '../../state/venue-data.ts';
import { isVisitor } from '../../state/visitor.ts';
import {
  type ChartKind,
  FULL_RANGE,
  GAP_WORDS,
  linesOf,
  MID,
  marksOf,
  RANGE_WORDS,
  SIDES,
  type Stretch,
  stretchesOf,
  summaryOf,
} from './chart-data.ts';

/** `isOver`: no price follows. */
type Props = { instrumentId: string; quote: ShownQuote | null; isOver: boolean } & ViewProps;

const DRAWN_EVERY_MS = 5000;
const HEIGHT_PX = 260;
/** By then the history has written the gap of a price that was lost, or is back. */
const GAP_SETTLES_MS = 1000;
const NAMES = Object.keys(INTERVALS) as Interval[];

export function PriceChart({ instrumentId, quote, isOver, param, query }: Props) {
  const interval = NAMES.find((name) => name === query.interval) ?? '1m';
  const kind: ChartKind = query.chart === 'mid' ? 'mid' : 'sides';
  useHistory({ instrumentId, interval, isOver }, quote);
  const isFull = query.scale === 'full';
  const show = (next: { interval?: string; chart?: string; scale?: string }) => {
    replace(hrefOf('market', param, { ...query, ...next }));
  };
  return (
    <section aria-label="Price">
      <div class="chart-head">
        <h2>Price of yes</h2>
        <label class="full-range">
          <input
            type="checkbox"
            checked={isFull}
            onChange={() => show({ scale: isFull ? '' : 'full' })}
          />{' '}
          From 0¢ to 100¢
        </label>
        <div class="chart-choices">
          <Choice
            label="Range"
            isLabelShown={false}
            value={interval}
            options={NAMES.map((value) => ({ value, text: RANGE_WORDS[value] }))}
            onPick={(value) => show({ interval: value })}
          />
          <Choice
            label="Series"
            isLabelShown={false}
            value={kind}
            options={[
              { value: 'sides', text: 'Bid, ask' },
              { value: 'mid', text: 'Middle' },
            ]}
            onPick={(value) => show({ chart: value })}
          />
        </div>
      </div>
      <Drawn {...{ instrumentId, interval, isOver, kind, isFull }} />
    </section>
  );
}

/**
 * Loads it, continues it with the quote, and loads it again if the stream has left something out.
 */
function useHistory(
  { instrumentId, interval, isOver }: Pick<DrawnProps, 'instrumentId' | 'interval' | 'isOver'>,
  quote: ShownQuote | null,
): void {
  const isOn = venueData.value !== false;
  const bidCents = quote?.bidCents ?? null;
  const askCents = quote?.askCents ?? null;
  useEffect(() => {
    if (isOn) void loadPriceHistory(instrumentId, interval, isOver);
  }, [instrumentId, interval, isOver, isOn]);
  useEffect(() => carryPriceOn({ bidCents, askCents }), [bidCents, askCents]);
  const { state } = connection.value;
  /** Null: not known yet. */
  const isLive = quote === null ? null : bidCents !== null || askCents !== null;
  const before = useRef({ wasLost: false, isLive });
  useEffect(() => {
    const { wasLost, isLive: wasLive } = before.current;
    const isBack = state === 'open' && wasLost;
    const isTurned = isLive !== null && wasLive !== null && isLive !== wasLive;
    before.current = {
      wasLost: state === 'waiting' || (wasLost && state !== 'open'),
      isLive: isLive ?? wasLive,
    };
    if (!isOn || (!isBack && !isTurned)) return;
    const again = () => void loadPriceHistory(instrumentId, interval, isOver);
    const timer = setTimeout(again, GAP_SETTLES_MS);
    return () => clearTimeout(timer);
  }, [isLive, state, isOn, instrumentId, interval, isOver]);
}

type DrawnProps = {
  instrumentId: string;
  interval: Interval;
  isOver: boolean;
  kind: ChartKind;
  isFull: boolean;
};

function Drawn({ instrumentId, interval, isOver, kind, isFull }: DrawnProps) {
  const now = priceHistoryOf(instrumentId, interval);
  if (venueData.value === false) return <Empty>No prices are shown while venue data is off.</Empty>;
  if (now.state === 'failed') {
    const why = whyNone(now.error);
    if (why !== null) return <Empty>{why}</Empty>;
  }
  return (
    <Loading
      of={now}
      skeleton={<div class="chart-skeleton" role="status" aria-label="Loading the chart" />}
      again={() => void loadPriceHistory(instrumentId, interval, isOver)}
    >
      {(history) =>
        history.live.bars.length === 0 ? (
          <Empty>
            No price of this market has been recorded in this time. The chart begins with its first
            quote.
          </Empty>
        ) : (
          <Plotted history={history} kind={kind} isFull={isFull} instrumentId={instrumentId} />
        )
      }
    </Loading>
  );
}

function whyNone(error: unknown): string | null {
  if (!(error instanceof CallError)) return null;
  if (error.code === 'not_configured') {
    return 'This server records no history of prices, so there is no chart.';
  }
  if (error.code === 'market_not_found') {
    return 'There is no history: the market is not listed at Venue A.';
  }
  return null;
}

type PlottedProps = Omit<DrawnProps, 'interval' | 'isOver'> & { history: PriceHistory };

function Plotted({ history, kind, isFull, instrumentId }: PlottedProps) {
  const marks = useMarks(instrumentId);
  // The last price holds until now, or until the connection was lost.
  useNow(DRAWN_EVERY_MS);
  const { value: lostMs } = lostAtMs;
  const nowMs = serverNowMs() - (lostMs === null ? 0 : Date.now() - lostMs);
  const endMs = history.endMs ?? nowMs;
  const live = carriedTo(history.live, endMs);
  const { timesMs, lines } = linesOf(live, endMs, kind);
  const window = { fromMs: timesMs[0]!, toMs: timesMs.at(-1)! };
  const stretches = stretchesOf(history.gaps, window);
  const data: ChartData = {
    timesMs,
    series: lines.map(({ name, values }) => ({ name, values, color: COLOR_OF[name]! })),
    band:
      kind === 'sides'
        ? { upper: SIDES.ask, lower: SIDES.bid }
        : { upper: MID.high, lower: MID.low },
    shades: stretches.map(({ fromMs, toMs, reason }) => ({
      fromMs,
      toMs,
      color: GAP_COLORS[reason],
    })),
    marks,
    ...(isFull ? { range: FULL_RANGE } : {}),
    valueText: cents,
  };
  const reasons = [...new Set(stretches.map(({ reason }) => reason))];
  return (
    <>
      <Chart
        {...data}
        label="Price of yes over time"
        summary={summaryOf(live)}
        heightPx={HEIGHT_PX}
        timeText={(atMs) => clock.moment(new Date(atMs).toISOString(), nowMs)}
        shadeKey={reasons.map((reason) => ({
          color: GAP_COLORS[reason],
          text: `No price: ${GAP_WORDS[reason]}`,
        }))}
      />
      {marks.length > 0 && (
        <p class="hint">
          <span aria-hidden="true">▲ ▼ </span>Your buys and sales, at their prices of yes.
        </p>
      )}
      <Gaps stretches={stretches} />
    </>
  );
}

/** Of the own account, asked for again with each of its events here. */
function useMarks(instrumentId: string) {
  const isIn = !isVisitor.value;
  const last = events.value.find((event) => instrumentOf(event) === instrumentId)?.eventId;
  useEffect(() => {
    if (isIn) void loadMarketTrades(instrumentId);
  }, [instrumentId, last, isIn]);
  useEffect(() => forgetMarketTrades, [instrumentId]);
  const now = marketTrades(instrumentId);
  const trades = now.state === 'ready' ? now.value : NO_TRADES;
  return useMemo(() => marksOf(trades), [trades]);
}

const NO_TRADES: readonly never[] = [];

const COLOR_OF: Readonly<Record<string, ChartData['series'][number]['color']>> = {
  [SIDES.bid]: 'gain',
  [SIDES.ask]: 'loss',
  [MID.mid]: 'accent',
  [MID.low]: 'muted',
  [MID.high]: 'muted',
};
const GAP_COLORS = {
  connection_lost: 'warning',
  sequence_gap: 'accent',
  stale: 'muted',
  server_down: 'loss',
  damaged: 'loss',
} as const;

const GAP_COLUMNS: readonly Column<Stretch>[] = [
  {
    head: 'From',
    isHead: true,
    cell: ({ fromMs }) => <When iso={new Date(fromMs).toISOString()} />,
  },
  {
    head: 'To',
    cell: ({ toMs, isOpen }) =>
      isOpen ? 'not over yet' : <When iso={new Date(toMs).toISOString()} />,
  },
  { head: 'Length', isNumber: true, cell: ({ fromMs, toMs }) => duration(toMs - fromMs) },
  { head: 'Why', cell: ({ reason }) => GAP_WORDS[reason] },
];

function Gaps({ stretches }: { stretches: readonly Stretch[] }) {
  if (stretches.length === 0) return null;
  return (
    <details class="gaps">
      <summary>{counted(stretches.length, 'stretch', 'stretches')} without a live price</summary>
      <Table
        caption="Stretches without a live price"
        columns={GAP_COLUMNS}
        rows={stretches.toReversed()}
        keyOf={({ fromMs, reason }) => `${fromMs} ${reason}`}
      />
    </details>
  );
}

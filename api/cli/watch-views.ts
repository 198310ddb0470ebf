/**
 * How `paperbook watch` shows messages: as JSON, as lines, or on a terminal. Rule U18
 * (api/RULES.md).
 */
import type { AccountEvent, Channel, Portfolio, Quote, RefusedError } from 'paperbook/client';
import { jsonText, plain } from '../base/shown-text.ts';
import { quoteTable } from './markets.ts';
import { redraw } from './screen.ts';
import { columnsOfOutput, limitText, money } from './table.ts';

export type WatchView = {
  quote(quote: Quote, at: string): void;
  event(event: AccountEvent, replayed: boolean): void;
  /** Where events begin: at the start, and after a gap. */
  portfolio(portfolio: Portfolio, at: string): void;
  gap(channel: Channel): void;
  ended(channel: Channel, error: RefusedError): void;
  /** The problem of the connection; null once it is there again. */
  note(text: string | null): void;
  end(): void;
};

/** A line a message, of the form that the stream has, with whole quotes. */
export function jsonView(): WatchView {
  const lines = new Lines();
  const print = (message: object, key?: string) => lines.add(jsonText(message), key);
  return {
    quote(data, at) {
      const channel = `quotes:${data.instrumentId}`;
      print({ channel, at, data }, channel);
    },
    event: (data, replayed) => {
      print({ channel: 'orders', at: data.at, ...(replayed ? { replayed } : {}), data });
    },
    portfolio: (data, at) => print({ channel: 'orders', at, snapshot: true, data }),
    gap: (channel) => print({ channel, gap: true }),
    ended: (channel, { code, message }) =>
      print({ channel, ended: true, error: { code, message } }),
    note: noteOnStderr,
    end() {},
  };
}

/** A line a message, for people and pipes. */
export function linesView(): WatchView {
  const lines = new Lines();
  return {
    quote: (quote, at) => lines.add(`${at}  ${quoteLine(quote)}`, quote.instrumentId),
    event: (event) => lines.add(`${event.at}  ${eventLine(event)}`),
    portfolio: (portfolio, at) => lines.add(`${at}  ${portfolioLine(portfolio)}`),
    gap: (channel) => lines.add(gapLine(channel)),
    ended: (channel, error) => lines.add(endedLine(channel, error)),
    note: noteOnStderr,
    end() {},
  };
}

const REDRAW_MS = 200;
const EVENTS_KEPT = 100;
/** Of a terminal that does not say how high it is. */
const ROWS = 24;

/** The quotes as a table that is redrawn, and below it the last events. */
export function screenView(): WatchView {
  const quotes = new Map<string, Quote>();
  const events: string[] = [];
  let note: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  const draw = () => {
    timer = null;
    redraw(screenText([...quotes.values()], events, note));
  };
  const changed = () => {
    timer ??= setTimeout(draw, REDRAW_MS);
  };
  const say = (line: string) => {
    events.push(line);
    if (events.length > EVENTS_KEPT) events.shift();
    changed();
  };
  return {
    quote(quote) {
      quotes.set(quote.instrumentId, quote);
      changed();
    },
    event: (event) => say(`${event.at.slice(11, 19)}  ${eventLine(event)}`),
    portfolio: (portfolio, at) => say(`${at.slice(11, 19)}  ${portfolioLine(portfolio)}`),
    gap: (channel) => say(gapLine(channel)),
    ended(channel, error) {
      quotes.delete(channel.replace('quotes:', ''));
      say(endedLine(channel, error));
    },
    note(text) {
      note = text;
      changed();
    },
    end() {
      if (timer === null) return;
      clearTimeout(timer);
      draw();
    },
  };
}

/** No more lines than the terminal has: the newest events, and of the table its beginning. */
function screenText(quotes: readonly Quote[], events: readonly string[], note: string | null) {
  const columns = columnsOfOutput();
  const rows = (process.stdout.rows ?? ROWS) - 1;
  const table = quotes.length === 0 ? [] : quoteTable(quotes).trimEnd().split('\n');
  const notes = note === null ? [] : [note];
  const forEvents = Math.max(3, rows - table.length - notes.length - 1);
  const below = [...events.slice(-forEvents), ...notes].map((line) => line.slice(0, columns));
  const above = table.slice(0, Math.max(1, rows - below.length - 1));
  return [...above, '', ...below, ''].join('\n');
}

function quoteLine({ instrumentId, label, venues, omitted }: Quote): string {
  const prices = venues.map(({ venue, yesBidCents, yesAskCents, note }) => {
    const why = note === null ? '' : ` (${note})`;
    return `${venue} ${yesBidCents ?? '-'}/${yesAskCents ?? '-'}${why}`;
  });
  const none = omitted.map(({ venue, note }) => `${venue} - (${note})`);
  return plain(['quote', instrumentId, ...prices, ...none, label].join('  '));
}

function eventLine(event: AccountEvent): string {
  if ('order' in event) {
    const { action, contracts, instrumentSide, limitCents, cancelReason } = event.order;
    const { orderId, instrumentLabel } = event.order;
    const why = cancelReason === null ? '' : `, ${cancelReason}`;
    const what = `${action} ${contracts} ${instrumentSide} ${limitText(limitCents)}${why}`;
    return plain(`${event.type}  ${what}  ${instrumentLabel ?? ''}  order ${orderId}`);
  }
  if (event.type === 'trade_corrected') {
    const { from, to, cashDollars, tradeId } = event;
    return `${event.type}  ${from} to ${to}, balance ${money(cashDollars)}  trade ${tradeId}`;
  }
  if (!('trade' in event)) return event.type;
  const { contracts, instrumentSide, instrumentLabel, costDollars, pnlDollars } = event.trade;
  const outcome =
    pnlDollars === null ? `cost ${money(costDollars)}` : `profit or loss ${money(pnlDollars)}`;
  const what = `${contracts} ${instrumentSide}, ${outcome}`;
  return plain(`${event.type}  ${what}  ${instrumentLabel ?? ''}  trade ${event.trade.tradeId}`);
}

function portfolioLine({ account, positionsCount, ordersCount }: Portfolio): string {
  if (account === null) return 'portfolio  nothing traded yet';
  const { balanceDollars, heldDollars } = account;
  const cash = `balance ${money(balanceDollars)}, held ${money(heldDollars)}`;
  return `portfolio  ${cash}, positions ${positionsCount}, resting orders ${ordersCount}`;
}

const gapLine = (channel: Channel) => `${channel}: messages are missing; it starts again`;
const endedLine = (channel: Channel, { code, message }: RefusedError) =>
  plain(`${channel}: ended, ${code}: ${message}`);

function noteOnStderr(text: string | null): void {
  process.stderr.write(`paperbook: ${plain(text ?? 'connected again')}\n`);
}

/**
 * Lines on standard output. For a slow reader only the newest line of each key waits, so that the
 * queue does not grow with time. Lines without a key all wait.
 */
class Lines {
  readonly #waiting = new Map<string, string>();
  #count = 0;
  #isBlocked = false;

  add(line: string, key = `line ${++this.#count}`): void {
    // It is sent after all earlier lines.
    this.#waiting.delete(key);
    this.#waiting.set(key, line);
    this.#flush();
  }

  #flush(): void {
    for (const [key, line] of this.#waiting) {
      if (this.#isBlocked) return;
      this.#waiting.delete(key);
      if (process.stdout.write(`${line}\n`)) continue;
      this.#isBlocked = true;
      process.stdout.once('drain', () => {
        this.#isBlocked = false;
        this.#flush();
      });
    }
  }
}

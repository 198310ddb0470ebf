/**
 * A recorded day as its CSV files have it, for the independent calculation of oracle.ts: nothing of
 * the product is imported, and the feed file is not read. Prices are strings until they are cents.
 */
import { readFileSync } from 'node:fs';

export type Side = 'yes' | 'no';

/** One row: a poll of a market. Whole cents, null if there is no price. */
export type Quote = { atMs: number; market: string; yesBid: number | null; yesAsk: number | null };

/** The venue's result, five minutes after the market's last quote. */
export type Settlement = { atMs: number; market: string; winner: Side };

/** `polarity` -1: the instrument's yes is the market's no. */
export type Instrument = { id: string; market: string; polarity: 1 | -1 };

export type Day = { quotes: Quote[]; settlements: Settlement[]; instruments: Instrument[] };

const SETTLES_AFTER_MS = 5 * 60 * 1000;

/** From the quotes file, labels.csv and games.csv of `dir`; catalog.json only names the ids. */
export function readDay(dir: URL): Day {
  const quotes = csv(dir, 'polymarket_us_mlb_2026-07-12.csv').map((row) => quoteOf(row));
  const lastMs = new Map(quotes.map(({ market, atMs }) => [market, atMs]));
  const settlements = csv(dir, 'labels.csv').map(({ slug, y }) => ({
    atMs: lastMs.get(slug!)! + SETTLES_AFTER_MS,
    market: slug!,
    winner: y === '1' ? ('yes' as const) : ('no' as const),
  }));
  return { quotes, settlements, instruments: instrumentsOf(dir) };
}

/** The day up to that time. */
export function until(day: Day, atMs: number): Day {
  return {
    ...day,
    quotes: day.quotes.filter((quote) => quote.atMs <= atMs),
    settlements: day.settlements.filter((settlement) => settlement.atMs <= atMs),
  };
}

function quoteOf({ ts_utc, slug, bid, ask }: Record<string, string>): Quote {
  const [bidE4, askE4] = [priceE4(bid!), priceE4(ask!)];
  // A crossed or locked book is no live price, and neither is 0 or 100.
  const crossed = bidE4 !== null && askE4 !== null && bidE4 >= askE4;
  return {
    atMs: Date.parse(ts_utc!),
    market: slug!,
    yesBid: crossed || bidE4 === null ? null : withinBounds(Math.floor(bidE4 / 100)),
    yesAsk: crossed || askE4 === null ? null : withinBounds(Math.ceil(askE4 / 100)),
  };
}

/** `0.475` is 4750 ten-thousandths; an empty cell is no price. */
function priceE4(text: string): number | null {
  if (text === '') return null;
  const [whole, fraction = ''] = text.split('.');
  return Number(whole! + fraction.padEnd(4, '0'));
}

function withinBounds(cents: number): number | null {
  return cents >= 1 && cents <= 99 ? cents : null;
}

/** Of each game two: the away team's moneyline is the market's yes, the home team's its no. */
function instrumentsOf(dir: URL): Instrument[] {
  const catalog = JSON.parse(readFileSync(new URL('catalog.json', dir), 'utf8'));
  const ids = new Map<string, string>(
    catalog.instruments.map(({ slug, id }: { slug: string; id: string }) => [slug, id]),
  );
  return csv(dir, 'games.csv').flatMap(({ slug, away, home }) => {
    const idOf = (team: string) =>
      ids.get(`${slug!.replace(/^aec-/, '')}-moneyline-${team.toLowerCase()}`)!;
    return [
      { id: idOf(away!), market: slug!, polarity: 1 as const },
      { id: idOf(home!), market: slug!, polarity: -1 as const },
    ];
  });
}

function csv(dir: URL, name: string): Record<string, string>[] {
  const [header, ...lines] = readFileSync(new URL(name, dir), 'utf8').trim().split(/\r?\n/);
  const names = header!.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((column, index) => [column, cells[index]!]));
  });
}

/**
 * Records of many traders, written as the fold would write them: picks spread evenly over a year,
 * half of them with a stated probability, and open trades. A server's fold continues from them.
 */
import path from 'node:path';
import type { Uuid } from '../../engine/base/units.ts';
import { Closings } from '../../engine/records/projection/closing-lines.ts';
import { ClosedTradeBlocks } from '../../engine/records/store/closed-trade-blocks.ts';
import {
  connected,
  createTables,
  type Database,
  makePrivate,
  recordsFile,
} from '../../engine/records/store/database.ts';
import { OpenChunks } from '../../engine/records/store/open-chunks.ts';
import { LOST, WON } from '../../engine/records/store/tables.ts';
import { uuidText } from '../../engine/records/store/uuid-bytes.ts';
import { type Random, seededRandom } from './random.ts';

export type RecordsSizes = {
  traders: number;
  picks: number;
  openTrades: number;
  /** With a result, each of them over a year; two instruments a game. */
  instruments: number;
  /** They follow the others, have no result, and start tomorrow. */
  spareInstruments: number;
};

export const NOW_MS = Date.UTC(2026, 10, 21);
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const GAME_MS = 3 * 3_600_000;
const CONTRACTS = 10;
const WORTH_CENTS = 10_000_000;

export function prepareRecords(directory: string, sizes: RecordsSizes): void {
  makePrivate(directory);
  const database = connected(recordsFile(directory));
  createTables(database);
  const closedTrades = new ClosedTradeBlocks(database, [0]);
  const random = seededRandom(7);
  database.exec('BEGIN');
  putInstruments(database, sizes);
  putTraders(database, sizes, random);
  putPicks(database, closedTrades, sizes, random);
  putOpenTrades(database, sizes, random);
  closedTrades.write();
  const { traders, picks, openTrades } = sizes;
  const position = database.prepare('INSERT INTO positions VALUES (0, 0, 0, ?, ?, ?)');
  position.run(traders, picks + openTrades, picks);
  database.exec('COMMIT');
  database.close();
  putClosings(directory, sizes);
}

/** When an instrument's game starts; its trades are over three hours later. */
function startOf(instrument: number, { instruments }: RecordsSizes): number {
  if (instrument >= instruments) return NOW_MS + DAY_MS;
  const closedAtMs = NOW_MS - YEAR_MS + Math.floor(((instrument + 1) / instruments) * YEAR_MS);
  return closedAtMs - GAME_MS;
}

function putInstruments(database: Database, sizes: RecordsSizes): void {
  const put = database.prepare('INSERT INTO instruments VALUES (?, ?, ?, ?, ?, ?, ?, 1)');
  const market = database.prepare('INSERT INTO markets VALUES (?, ?, ?, ?)');
  for (let at = 0; at < sizes.instruments + sizes.spareInstruments; at++) {
    const game = `game-${at >> 1}`;
    put.run(at, `ins_${at}`, `Instrument ${at}`, game, game, startOf(at, sizes), at);
    const isOver = at < sizes.instruments;
    const result = isOver ? ['venue_result', startOf(at, sizes) + GAME_MS] : [null, null];
    market.run(at, `KXGAME-${at}`, ...result);
  }
}

function putTraders(database: Database, { traders, picks }: RecordsSizes, random: Random): void {
  const put = database.prepare(`INSERT INTO traders VALUES (${places(15)})`);
  const closed = Math.floor(picks / traders);
  for (let at = 0; at < traders; at++) {
    const pnl = random.below(2_000_000) - 1_000_000;
    // Accounts are not opened in the order of their ids.
    put.run(
      ...[at, idOf(random.word(), random), WORTH_CENTS + pnl, 1, 0, 0, 0, 0, 0],
      ...[closed, pnl, 5_000_000, closed, 0, 0],
    );
  }
}

function putPicks(
  database: Database,
  closedTrades: ClosedTradeBlocks,
  sizes: RecordsSizes,
  random: Random,
): void {
  const put = database.prepare(`INSERT INTO settled VALUES (${places(23)})`);
  for (let trade = 0; trade < sizes.picks; trade++) {
    const instrument = Math.floor((trade / sizes.picks) * sizes.instruments);
    const closedAtMs = startOf(instrument, sizes) + GAME_MS;
    const openedAtMs = closedAtMs - DAY_MS;
    const trader = random.below(sizes.traders);
    const entryCents = 1 + random.below(99);
    const statedPct = random.below(2) === 0 ? null : 1 + random.below(99);
    const hasWon = random.below(100) < entryCents;
    const costCents = CONTRACTS * entryCents;
    const pnlCents = hasWon ? CONTRACTS * 100 - costCents : -costCents;
    const state = hasWon ? WON : LOST;
    const place = closedTrades.add(0, {
      ...{ trade, trader, instrument, market: instrument, contracts: CONTRACTS, costCents },
      ...{ entryCents, statedPct: statedPct ?? 0, openedAtMs, closedAtMs, pnlCents, state },
      ...{ instrumentYes: 1, isListed: 1, isRealistic: 0, isCharged: 0 },
    });
    put.run(
      ...[trader, trade, idOf(trade, random), instrument, instrument, 1, 1, CONTRACTS, costCents],
      ...[entryCents, statedPct, 0, openedAtMs, state, hasWon ? 0 : 1, closedAtMs, pnlCents],
      ...[0, null, 0, 0, place, 0],
    );
  }
}

function putOpenTrades(database: Database, sizes: RecordsSizes, random: Random): void {
  const chunks = new OpenChunks(database, () => 0);
  const word = () => random.word();
  for (let at = 0; at < sizes.openTrades; at++) {
    const [trade, trader] = [sizes.picks + at, random.below(sizes.traders)];
    const market = sizes.instruments - 1 - random.below(1000);
    chunks.append(at, {
      ...{ words: [trade, word(), word(), word()], trade, trader, market, isYes: true },
      ...{ contracts: CONTRACTS, costCents: 500, realizedCents: 0, openedAtMs: NOW_MS - DAY_MS },
    });
  }
  chunks.write();
}

function putClosings(directory: string, sizes: RecordsSizes): void {
  const closings = new Closings(path.dirname(directory));
  for (let market = 0; market < sizes.instruments; market++) {
    const startsAtMs = startOf(market, sizes);
    const quote = { yesBidCents: 48, yesAskCents: 51, atMs: startsAtMs - 1 };
    closings.put({ market, startsAtMs, quote });
  }
  closings.close();
}

/** The ids of all traders, by number. */
export function traderIds(database: Database): Uuid[] {
  const ids = database.prepare('SELECT id FROM traders ORDER BY trader').pluck().all() as Buffer[];
  return ids.map(uuidText);
}

const places = (columns: number) => new Array(columns).fill('?').join(', ');

function idOf(first: number, random: Random): Buffer {
  const id = Buffer.alloc(16);
  id.writeUInt32BE(first);
  for (let place = 4; place < 16; place += 4) id.writeUInt32BE(random.word(), place);
  return id;
}

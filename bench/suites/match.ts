/**
 * The book alone: one seeded stream of orders, cancels and crossing prices, on the ladders that the
 * engine runs and on a peer. All must fill the same orders in the same sequence. Compare the
 * figures by id, because other books find an order by its id. The figures by row show the ladders'
 * cost.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { OrderBook, Side } from 'nodejs-order-book';
import { NO_ROW } from '../../engine/base/units.ts';
import { Ladders } from '../../engine/memory/ladder.ts';
import { Table } from '../../engine/memory/table.ts';
import { UuidIndex } from '../../engine/memory/uuid-index.ts';
import {
  comparedToPublished,
  FlashBook,
  hashOfReports,
  readFlashStream,
} from '../lib/flash-stream.ts';
import { ADD, CANCEL, CROSS, makeStream, type Outcome, type Stream } from '../lib/op-stream.ts';
import { seededRandom } from '../lib/random.ts';
import { count, type Figures, type Report, range, ratio, type Suite } from '../lib/report.ts';
import { type Spread, spreadOf } from '../lib/stats.ts';
import { ratesOf, timeRounds } from '../lib/timed.ts';
import { seededUuid } from '../lib/uuid.ts';

export type MatchSizes = {
  operations: number;
  /** The peer runs only so many operations: it is much slower. */
  peerOperations: number;
  markets: readonly number[];
  rounds: number;
};

const SEED = 3;

export const match: Suite<MatchSizes> = {
  name: 'match',
  about: 'the book alone, against nodejs-order-book',
  full: { operations: 1_000_000, peerOperations: 100_000, markets: [1, 1000], rounds: 9 },
  quick: { operations: 200_000, peerOperations: 10_000, markets: [1, 1000], rounds: 3 },
  run,
};

async function run(sizes: MatchSizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  const rows: string[][] = [];
  const notes: string[] = [];
  for (const markets of sizes.markets) {
    const long = makeStream(seededRandom(SEED), sizes.operations, markets);
    const short = makeStream(seededRandom(SEED), sizes.peerOperations, markets);
    const { adds, cancels, crossings, fills, resting } = long.expected;
    notes.push(
      `${markets} market(s): ${count(adds)} adds, ${count(cancels)} cancels, ${count(crossings)} ` +
        `crossings with ${count(fills)} fills, ${count(resting)} resting at the end`,
    );
    const rates = new Map<string, Rates>();
    for (const [name, stream, player] of [
      ['paperbook, by id', long, playById],
      ['paperbook, by row', long, playByRow],
      ['paperbook, by id, short stream', short, playById],
      ['paperbook, by row, short stream', short, playByRow],
      ['nodejs-order-book, short stream', short, playOnPeer],
    ] as const) {
      progress(`match: ${markets} market(s), ${name}`);
      const rate = await measure(name, stream, player, sizes.rounds);
      rates.set(name, rate);
      figures[`${markets} markets/${name}`] = { unit: 'operations/s', value: rate.wall };
      figures[`${markets} markets/${name}/cpu`] = { unit: 'operations/CPU s', value: rate.cpu };
    }
    const peer = rates.get('nodejs-order-book, short stream')!;
    for (const [name, rate] of rates) {
      const isShort = name.endsWith('short stream');
      rows.push([
        `${markets} market(s), ${name}`,
        count(rate.wall.median),
        range(rate.wall),
        count(rate.cpu.median),
        isShort ? ratio(rate.cpu.median / peer.cpu.median) : '',
      ]);
    }
  }
  const columns = ['book', 'operations/s', 'min .. max', 'a CPU second', 'to the peer, by CPU'];
  return { tables: [{ title: 'match: operations a second', columns, rows, notes }], figures };
}

/**
 * One file of the public `flash1-dev/matching-engine-benchmark` on our ladders. Its reports are
 * compared with the published hash after each round; neither reading nor hashing is timed.
 */
export async function matchStream(
  file: string,
  rounds: number,
  progress: (line: string) => void,
): Promise<Report> {
  const name = path.basename(file);
  const stream = readFlashStream(readFileSync(file));
  let book: FlashBook | null = null;
  let reports = 0;
  let hash = '';
  let says = '';
  const verify = () => {
    if (book === null) return;
    const found = hashOfReports(book.reports);
    says = comparedToPublished(name, found);
    if (hash !== '' && found !== hash)
      throw new Error(`${name}: two rounds differ in their reports`);
    hash = found;
    reports = book.reports.count;
  };
  progress(`match: ${name}, ${count(stream.count)} messages`);
  const timed = await timeRounds({
    name,
    rounds,
    prepare() {
      verify();
      book = new FlashBook(stream);
    },
    run: () => book!.play(),
  });
  verify();
  const { wall, cpu } = ratesOf(timed, stream.count);
  const micros = spreadOf(timed.cpu.map((millis) => (1000 * millis) / stream.count));
  const table = {
    title: `match: the messages of ${name}, ids as numbers`,
    columns: ['book', 'messages/s', 'min .. max', 'a CPU second', 'CPU us a message'],
    rows: [
      ['paperbook', count(wall.median), range(wall), count(cpu.median), micros.median.toFixed(3)],
    ],
    notes: [
      `${count(stream.count)} messages, ${count(reports)} reports`,
      `SHA-256 of the reports: ${hash}, ${says}`,
    ],
  };
  const figures: Figures = {
    [`${name}/paperbook`]: { unit: 'messages/s', value: wall },
    [`${name}/paperbook/cpu`]: { unit: 'messages/CPU s', value: cpu },
  };
  return { tables: [table], figures };
}

type Rates = { wall: Spread; cpu: Spread };
type Round = { play: () => void; outcome: () => Outcome };
/** Prepares a stream, then each round again. */
type Player = (stream: Stream) => () => Round;

/** Operations per second of each round; throws when a round's fills are not the expected ones. */
async function measure(
  name: string,
  stream: Stream,
  player: Player,
  rounds: number,
): Promise<Rates> {
  const newRound = player(stream);
  let current: Round | null = null;
  const verify = () => {
    if (current === null) return;
    const { expected } = stream;
    const { fills, cancels, checksum } = current.outcome();
    if (fills === expected.fills && cancels === expected.cancels && checksum === expected.checksum)
      return;
    throw new Error(`${name}: ${fills} fills, ${cancels} cancels, ${checksum} is not what it was`);
  };
  const timed = await timeRounds({
    name,
    rounds,
    prepare() {
      verify();
      current = newRound();
    },
    run: () => current!.play(),
  });
  verify();
  return ratesOf(timed, stream.kinds.length);
}

/** Like the engine's own loop, with rows known: filled orders leave, best price level first. */
const playByRow: Player = (stream) => () => {
  const { kinds, ladderOf, priceLevels, rows } = stream;
  const ladders = new Ladders();
  ladders.ensureLadders(stream.markets * 2);
  const orderInRow = new Int32Array(stream.rowsMax);
  const outcome = { fills: 0, cancels: 0, checksum: 0 };
  const play = () => {
    let fills = 0;
    let cancels = 0;
    let checksum = 0;
    for (let at = 0; at < kinds.length; at++) {
      const kind = kinds[at]!;
      const row = rows[at]!;
      const ladder = ladderOf[at]!;
      if (kind === ADD) {
        orderInRow[row] = at;
        ladders.add(ladder, priceLevels[at]!, row);
      } else if (kind === CANCEL) {
        ladders.remove(row);
        cancels++;
      } else {
        const ask = priceLevels[at]!;
        for (let best = ladders.best(ladder); best >= ask; best = ladders.best(ladder)) {
          const filled = ladders.first(ladder, best);
          ladders.remove(filled);
          checksum = (Math.imul(checksum, 31) + orderInRow[filled]!) | 0;
          fills++;
        }
      }
    }
    Object.assign(outcome, { fills, cancels, checksum });
  };
  return { play, outcome: () => outcome };
};

/**
 * The same with the engine's index: every add and every cancel has its id, a separate flat string
 * as JSON.parse or a path gives it. Reading that text is part of the time.
 */
const playById: Player = (stream) => {
  const ids = idsOf(stream);
  return () => byId(stream, ids);
};

/** Some 30 orders per millisecond. */
const UUID_MS = Date.parse('2026-11-21T12:00:00.000Z');

/** By operation; a crossing has none. */
function idsOf({ kinds, placedAt }: Stream): readonly string[] {
  const random = seededRandom(SEED);
  const uuids = Array.from(kinds, (_, at) => seededUuid(random, UUID_MS + (at >> 5)));
  const ids = Array.from(kinds, (kind, at) => {
    if (kind === CROSS) return '';
    return uuids[kind === CANCEL ? placedAt[at]! : at]!;
  });
  return JSON.parse(JSON.stringify(ids)) as string[];
}

function byId(stream: Stream, ids: readonly string[]): Round {
  const { kinds, ladderOf, priceLevels, rows } = stream;
  const ladders = new Ladders();
  ladders.ensureLadders(stream.markets * 2);
  const table = new Table('ids', { id: 'uuid' }, {});
  while (table.size < stream.rowsMax) table.claim();
  const index = new UuidIndex(table);
  const orderInRow = new Int32Array(stream.rowsMax);
  const outcome = { fills: 0, cancels: 0, checksum: 0 };
  const play = () => {
    let fills = 0;
    let cancels = 0;
    let checksum = 0;
    for (let at = 0; at < kinds.length; at++) {
      const kind = kinds[at]!;
      const ladder = ladderOf[at]!;
      if (kind === ADD) {
        const row = rows[at]!;
        orderInRow[row] = at;
        index.set(row, ids[at]!);
        ladders.add(ladder, priceLevels[at]!, row);
      } else if (kind === CANCEL) {
        const row = index.find(ids[at]!);
        if (row === NO_ROW) continue;
        ladders.remove(row);
        index.remove(row);
        cancels++;
      } else {
        const ask = priceLevels[at]!;
        for (let best = ladders.best(ladder); best >= ask; best = ladders.best(ladder)) {
          const filled = ladders.first(ladder, best);
          ladders.remove(filled);
          index.remove(filled);
          checksum = (Math.imul(checksum, 31) + orderInRow[filled]!) | 0;
          fills++;
        }
      }
    }
    Object.assign(outcome, { fills, cancels, checksum });
  };
  return { play, outcome: () => outcome };
}

/** The package does not export its enum. */
const IOC = 'IOC' as NonNullable<Parameters<OrderBook['limit']>[0]['timeInForce']>;

/**
 * On the peer a price level of the yes ladder is a bid at that price, and a level of the no ladder
 * is an ask at 100 minus it. A crossing price is an order on the other side, large enough for all
 * it reaches.
 */
const playOnPeer: Player = (stream) => {
  const ids = Array.from(stream.kinds, (_, at) => `o${at}`);
  return () => onPeer(stream, ids);
};

function onPeer(stream: Stream, ids: readonly string[]): Round {
  const { kinds, ladderOf, priceLevels, placedAt } = stream;
  const books = Array.from({ length: stream.markets }, () => new OrderBook());
  const size = kinds.length;
  const outcome = { fills: 0, cancels: 0, checksum: 0 };
  const play = () => {
    for (let at = 0; at < kinds.length; at++) {
      const kind = kinds[at]!;
      const ladder = ladderOf[at]!;
      const book = books[ladder >> 1]!;
      const isBid = (ladder & 1) === 0;
      const price = isBid ? priceLevels[at]! : 100 - priceLevels[at]!;
      if (kind === ADD) {
        book.limit({ id: ids[at]!, side: isBid ? Side.BUY : Side.SELL, size: 1, price });
      } else if (kind === CANCEL) {
        if (book.cancel(ids[placedAt[at]!]!) !== undefined) outcome.cancels++;
      } else {
        const side = isBid ? Side.SELL : Side.BUY;
        const { done } = book.limit({ id: ids[at]!, side, size, price, timeInForce: IOC });
        for (const { id } of done) {
          outcome.checksum = (Math.imul(outcome.checksum, 31) + Number(id.slice(1))) | 0;
        }
        outcome.fills += done.length;
      }
    }
  };
  return { play, outcome: () => outcome };
}

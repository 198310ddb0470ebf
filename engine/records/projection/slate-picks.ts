/**
 * Candidate picks of slates, gathered in any order and then taken trader by trader. For each
 * instrument the first in the order of opening counts, summed up by game. It handles millions at
 * once: 24 bytes each, in parts that fit into a processor's cache. Rules Y28, Y54
 * (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import { type Keyed, sorted } from '../maths/radix.ts';
import type { GameSums } from '../maths/statistics.ts';
import type { TraderNumber } from '../store/trader-ids.ts';

/**
 * A trader's slate, valid until the next one is taken. The order of the picks does not matter to
 * it.
 */
export type Slate = {
  trader: TraderNumber;
  games: GameSums;
  /** Only picks with a stated probability. */
  skillSum: number;
  skills: number;
};

/** The skill of a pick without one. */
export const NO_SKILL = -(2 ** 15);

const PARTS = 256;
const FIRST_ROWS = 64;
const ROW_BYTES = 24;
const ROW_WORDS = ROW_BYTES / 4;
const ROW_NUMBERS = ROW_BYTES / 8;
/** Words of a row; its value is the number after them. */
const [INSTRUMENT, TRADE, SKILL, VALUE] = [1, 2, 3, 2];
/** Longer runs are not sorted by insertion. */
const SHORT = 32;

/** Rows of the traders of one part. */
type Rows = { words: Uint32Array; numbers: Float64Array; count: number };

export class SlatePicks {
  readonly #parts = Array.from({ length: PARTS }, () => rowsOf(FIRST_ROWS));
  readonly #games = { counts: new Float64Array(16), sums: new Float64Array(16), from: 0, end: 0 };

  /**
   * One pick. @param trade a number in the order of opening @param value of the metric; NaN: the
   * pick has none @param skill a whole number, or `NO_SKILL`
   */
  add(trader: TraderNumber, instrument: number, trade: number, value: number, skill: number): void {
    invariant(skill >= NO_SKILL && skill < -NO_SKILL, 'a skill is out of range');
    const part = trader % PARTS;
    const rows = this.#parts[part]!;
    const { words, numbers, count } = rows;
    if (count * ROW_WORDS === words.length) {
      this.#parts[part] = grown(rows);
      return this.add(trader, instrument, trade, value, skill);
    }
    const word = count * ROW_WORDS;
    words[word] = trader;
    words[word + INSTRUMENT] = instrument;
    words[word + TRADE] = trade;
    words[word + SKILL] = skill - NO_SKILL;
    numbers[count * ROW_NUMBERS + VALUE] = value;
    rows.count = count + 1;
  }

  /** Takes the slates of all traders, in any order. @param clusters each instrument's game, by number */
  take(clusters: ArrayLike<number>, use: (slate: Slate) => void): void {
    for (const rows of this.#parts) {
      const order = byTraderAndGame(rows, clusters);
      for (let at = 0; at < rows.count; ) at = this.#takeTrader(rows, order, at, use);
    }
  }

  /** @returns the place after the rows of the trader at `from` */
  #takeTrader(
    rows: Rows,
    { items, keys }: Keyed,
    from: number,
    use: (slate: Slate) => void,
  ): number {
    const trader = keys[2 * from + 1]!;
    const slate = { trader, games: this.#games, skillSum: 0, skills: 0 };
    slate.games.end = 0;
    let at = from;
    while (at < rows.count && keys[2 * at + 1] === trader) {
      const cluster = keys[2 * at];
      let end = at + 1;
      while (end < rows.count && keys[2 * end + 1] === trader && keys[2 * end] === cluster) end++;
      if (end - at > 1) byInstrumentAndTrade(items.subarray(at, end), rows.words);
      this.#addGame(rows, items, { from: at, end }, slate);
      at = end;
    }
    use(slate);
    return at;
  }

  /** The picks of one trader in one game, instrument by instrument in the order of opening. */
  #addGame(
    { words, numbers }: Rows,
    order: Uint32Array,
    { from, end }: { from: number; end: number },
    slate: Slate,
  ): void {
    let count = 0;
    let sum = 0;
    let taken = -1;
    for (let at = from; at < end; at++) {
      const pick = order[at]!;
      const instrument = words[pick * ROW_WORDS + INSTRUMENT]!;
      if (instrument === taken) continue;
      taken = instrument;
      const own = words[pick * ROW_WORDS + SKILL]! + NO_SKILL;
      if (own !== NO_SKILL) {
        slate.skillSum += own;
        slate.skills++;
      }
      const value = numbers[pick * ROW_NUMBERS + VALUE]!;
      if (Number.isNaN(value)) continue;
      count++;
      sum += value;
    }
    if (count > 0) this.#put(count, sum);
  }

  #put(count: number, sum: number): void {
    const games = this.#games;
    if (games.end === games.counts.length) {
      for (const name of ['counts', 'sums'] as const) {
        const more = new Float64Array(2 * games.end);
        more.set(games[name]);
        games[name] = more;
      }
    }
    games.counts[games.end] = count;
    games.sums[games.end] = sum;
    games.end++;
  }
}

/** A key is the number of the trader, then of the game. */
function byTraderAndGame({ words, count }: Rows, clusters: ArrayLike<number>): Keyed {
  const items = new Uint32Array(count);
  const keys = new Uint32Array(2 * count);
  for (let at = 0; at < count; at++) {
    const cluster = clusters[words[at * ROW_WORDS + INSTRUMENT]!];
    invariant(cluster !== undefined, 'a pick is of an instrument that is not known');
    items[at] = at;
    keys[2 * at] = cluster;
    keys[2 * at + 1] = words[at * ROW_WORDS]!;
  }
  return sorted({ items, keys });
}

function byInstrumentAndTrade(picks: Uint32Array, words: Uint32Array): void {
  const compare = (a: number, b: number) => {
    const [one, other] = [a * ROW_WORDS, b * ROW_WORDS];
    const by = words[one + INSTRUMENT]! - words[other + INSTRUMENT]!;
    return by === 0 ? words[one + TRADE]! - words[other + TRADE]! : by;
  };
  if (picks.length > SHORT) {
    picks.sort(compare);
    return;
  }
  for (let at = 1; at < picks.length; at++) {
    const pick = picks[at]!;
    let to = at;
    for (; to > 0 && compare(picks[to - 1]!, pick) > 0; to--) picks[to] = picks[to - 1]!;
    picks[to] = pick;
  }
}

function rowsOf(capacity: number): Rows {
  const buffer = new ArrayBuffer(capacity * ROW_BYTES);
  return { words: new Uint32Array(buffer), numbers: new Float64Array(buffer), count: 0 };
}

function grown(rows: Rows): Rows {
  const more = rowsOf((2 * rows.words.length) / ROW_WORDS);
  more.words.set(rows.words);
  more.count = rows.count;
  return more;
}

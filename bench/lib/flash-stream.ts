/**
 * The order stream of the public `flash1-dev/matching-engine-benchmark` (MIT), played on the ladders
 * that the engine runs, and the reports that its oracle hashes. One symbol; new orders, also
 * immediate-or-cancel, cancels, and modifies that are a cancel and a new order.
 */
import { createHash } from 'node:crypto';
import { Ladders } from '../../engine/memory/ladder.ts';

/** `MEBW_001`, as a number of eight bytes in little endian. */
const MAGIC = 0x4d4542575f303031n;
const VERSION = 1;
const HEADER_BYTES = 16;
const RECORD_BYTES = 40;

const NEW = 0;
const CANCEL = 1;
const MODIFY = 2;

export type FlashStream = {
  count: number;
  type: Uint8Array;
  /** 0: buy. */
  side: Uint8Array;
  isIoc: Uint8Array;
  quantity: Uint32Array;
  orderId: Uint32Array;
  priceTicks: Int32Array;
  lowestTicks: number;
  highestTicks: number;
  idMax: number;
};

/** Reads `orders_SCENARIO_sSEED_nCOUNT.bin`. Throws where it is not such a file. */
export function readFlashStream(bytes: Buffer): FlashStream {
  const wrong = (what: string) => new Error(`not a stream of matching-engine-benchmark: ${what}`);
  if (bytes.length < HEADER_BYTES) throw wrong(`it has ${bytes.length} bytes`);
  if (bytes.readBigUInt64LE(0) !== MAGIC) throw wrong('it begins otherwise');
  const version = bytes.readUInt32LE(8);
  if (version !== VERSION) throw wrong(`it has version ${version}`);
  const count = bytes.readUInt32LE(12);
  const length = HEADER_BYTES + count * RECORD_BYTES;
  if (bytes.length !== length) throw wrong(`it has ${bytes.length} bytes of ${length}`);
  const stream: FlashStream = {
    count,
    type: new Uint8Array(count),
    side: new Uint8Array(count),
    isIoc: new Uint8Array(count),
    quantity: new Uint32Array(count),
    orderId: new Uint32Array(count),
    priceTicks: new Int32Array(count),
    lowestTicks: Number.POSITIVE_INFINITY,
    highestTicks: Number.NEGATIVE_INFINITY,
    idMax: 0,
  };
  for (let at = 0; at < count; at++) {
    const from = HEADER_BYTES + at * RECORD_BYTES;
    const message = (what: string) => wrong(`message ${at} ${what}`);
    const [type, side, ioc] = [bytes[from]!, bytes[from + 1]!, bytes[from + 2]!];
    if (type > MODIFY) throw message(`has type ${type}`);
    if (side > 1 || ioc > 1) throw message(`has side ${side} and ioc ${ioc}`);
    if (bytes.readBigUInt64LE(from + 8) !== BigInt(at)) throw message('is out of order');
    const id = bytes.readBigUInt64LE(from + 16);
    if (id > ID_MAX) throw message(`names order ${id}, above ${ID_MAX}`);
    const price = bytes.readBigInt64LE(from + 24);
    if (price < -PRICE_MAX || price > PRICE_MAX) throw message(`has a price of ${price} ticks`);
    const ticks = Number(price);
    stream.type[at] = type;
    stream.side[at] = side;
    stream.isIoc[at] = ioc;
    stream.quantity[at] = bytes.readUInt32LE(from + 4);
    stream.orderId[at] = Number(id);
    stream.priceTicks[at] = ticks;
    if (type === CANCEL) continue;
    if (stream.quantity[at] === 0) throw message('is of no contract');
    stream.lowestTicks = Math.min(stream.lowestTicks, ticks);
    stream.highestTicks = Math.max(stream.highestTicks, ticks);
    stream.idMax = Math.max(stream.idMax, Number(id));
  }
  const ticks = stream.highestTicks - stream.lowestTicks;
  if (ticks >= TICKS_MAX) throw wrong(`its prices spread over ${ticks} ticks`);
  return stream;
}

/** Orders are found by their number in an array, as that benchmark's own engines find them. */
const ID_MAX = 50_000_000n;
const PRICE_MAX = 2n ** 30n;

/** Price levels of a ladder; `level` 1 is the first. */
const LEVELS = 99;
const CHUNKS_MAX = LEVELS * LEVELS;
const TICKS_MAX = LEVELS * CHUNKS_MAX;

/** What a report is, in the order in which those of a message come. */
const ACK = 0;
const TRADE = 1;
const CANCEL_ACK = 2;
const MODIFY_ACK = 3;
const CANCEL_REJECT = 4;
const MODIFY_REJECT = 5;
const WORDS = 6;

/** Reports as numbers: type, message, order, side or maker, price, quantity. */
export class Reports {
  words = new Int32Array(WORDS * 2 ** 20);
  count = 0;

  push(type: number, seq: number, id: number, other: number, ticks: number, size: number): void {
    const at = this.count++ * WORDS;
    if (at === this.words.length) {
      const grown = new Int32Array(at * 2);
      grown.set(this.words);
      this.words = grown;
    }
    const { words } = this;
    words[at] = type;
    words[at + 1] = seq;
    words[at + 2] = id;
    words[at + 3] = other;
    words[at + 4] = ticks;
    words[at + 5] = size;
  }

  /** A line a report, as the oracle hashes them. */
  *lines(): Generator<string> {
    for (let report = 0; report < this.count; report++) {
      const at = report * WORDS;
      const [type, seq, id, other, ticks, size] = this.words.subarray(at, at + WORDS);
      switch (type) {
        case TRADE:
          yield `1,${seq},${ticks},${size},${other},${id}`;
          break;
        case CANCEL_ACK:
          yield `2,${seq},${other},${id},${ticks}`;
          break;
        case CANCEL_REJECT:
        case MODIFY_REJECT:
          yield `${type},${seq},${id}`;
          break;
        default:
          yield `${type},${seq},${other},${id},${ticks},${size}`;
      }
    }
  }
}

/**
 * One side of the book over any number of ticks: ladders of 99 prices each, which of them have an
 * order is on ladders above them, and those above are on one more.
 */
class Side {
  readonly #prices = new Ladders();
  readonly #chunks = new Ladders();
  readonly #groups = new Ladders();

  constructor(places: number) {
    const chunks = Math.ceil(places / LEVELS);
    this.#prices.ensureLadders(chunks);
    this.#chunks.ensureLadders(Math.ceil(chunks / LEVELS));
    this.#groups.ensureLadders(1);
  }

  /** The highest place with an order; -1: there is none. */
  best(): number {
    const group = this.#groups.best(0) - 1;
    if (group < 0) return -1;
    const chunk = group * LEVELS + this.#chunks.best(group) - 1;
    return chunk * LEVELS + this.#prices.best(chunk) - 1;
  }

  first(place: number): number {
    const chunk = (place / LEVELS) | 0;
    return this.#prices.first(chunk, place - chunk * LEVELS + 1);
  }

  add(place: number, order: number): void {
    const chunk = (place / LEVELS) | 0;
    if (this.#prices.best(chunk) === 0) {
      const group = (chunk / LEVELS) | 0;
      if (this.#chunks.best(group) === 0) this.#groups.add(0, group + 1, group);
      this.#chunks.add(group, chunk - group * LEVELS + 1, chunk);
    }
    this.#prices.add(chunk, place - chunk * LEVELS + 1, order);
  }

  remove(place: number, order: number): void {
    this.#prices.remove(order);
    const chunk = (place / LEVELS) | 0;
    if (this.#prices.best(chunk) > 0) return;
    const group = (chunk / LEVELS) | 0;
    this.#chunks.remove(chunk);
    if (this.#chunks.best(group) === 0) this.#groups.remove(group);
  }
}

export class FlashBook {
  readonly reports = new Reports();
  readonly #stream: FlashStream;
  readonly #sides: readonly [Side, Side];
  /** By order; 0: it does not rest. */
  readonly #left: Uint32Array;
  readonly #ticks: Int32Array;
  readonly #side: Uint8Array;

  constructor(stream: FlashStream) {
    this.#stream = stream;
    const places = stream.highestTicks - stream.lowestTicks + 1;
    this.#sides = [new Side(places), new Side(places)];
    this.#left = new Uint32Array(stream.idMax + 1);
    this.#ticks = new Int32Array(stream.idMax + 1);
    this.#side = new Uint8Array(stream.idMax + 1);
  }

  /** Every message, one after the other. */
  play(): void {
    const { count, type, side, isIoc, quantity, orderId, priceTicks } = this.#stream;
    const { reports } = this;
    for (let seq = 0; seq < count; seq++) {
      const id = orderId[seq]!;
      const kind = type[seq]!;
      if (kind === NEW) {
        const ticks = priceTicks[seq]!;
        const size = quantity[seq]!;
        reports.push(ACK, seq, id, side[seq]!, ticks, size);
        const left = this.#matched(seq, id, side[seq]!, ticks, size);
        if (left === 0) continue;
        if (isIoc[seq] === 1) reports.push(CANCEL_ACK, seq, id, side[seq]!, ticks, 0);
        else this.#rest(id, side[seq]!, ticks, left);
        continue;
      }
      const rests = id < this.#left.length && this.#left[id]! > 0;
      if (kind === CANCEL) {
        if (rests) reports.push(CANCEL_ACK, seq, id, this.#side[id]!, this.#ticks[id]!, 0);
        else reports.push(CANCEL_REJECT, seq, id, 0, 0, 0);
        if (rests) this.#remove(id);
        continue;
      }
      if (!rests) {
        reports.push(MODIFY_REJECT, seq, id, 0, 0, 0);
        continue;
      }
      const ticks = priceTicks[seq]!;
      const size = quantity[seq]!;
      const of = this.#side[id]!;
      this.#remove(id);
      const left = this.#matched(seq, id, of, ticks, size);
      if (left > 0) this.#rest(id, of, ticks, left);
      reports.push(MODIFY_ACK, seq, id, of, ticks, size);
    }
  }

  /** Fills an order with those that it reaches, best price first; returns what is left of it. */
  #matched(seq: number, id: number, side: number, ticks: number, size: number): number {
    const others = this.#sides[side === 0 ? 1 : 0];
    const reached = this.#place(side === 0 ? 1 : 0, ticks);
    let left = size;
    for (let best = others.best(); best >= reached && left > 0; best = others.best()) {
      const maker = others.first(best);
      const filled = Math.min(left, this.#left[maker]!);
      this.reports.push(TRADE, seq, id, maker, this.#ticks[maker]!, filled);
      left -= filled;
      this.#left[maker]! -= filled;
      if (this.#left[maker] === 0) others.remove(best, maker);
    }
    return left;
  }

  #rest(id: number, side: number, ticks: number, size: number): void {
    this.#left[id] = size;
    this.#ticks[id] = ticks;
    this.#side[id] = side;
    this.#sides[side]!.add(this.#place(side, ticks), id);
  }

  #remove(id: number): void {
    const side = this.#side[id]!;
    this.#sides[side]!.remove(this.#place(side, this.#ticks[id]!), id);
    this.#left[id] = 0;
  }

  /** The better price of a side is the higher place. */
  #place(side: number, ticks: number): number {
    const { lowestTicks, highestTicks } = this.#stream;
    return side === 0 ? ticks - lowestTicks : highestTicks - ticks;
  }
}

/** SHA-256 of all reports as lines, without a line end after the last. */
export function hashOfReports(reports: Reports): string {
  const hash = createHash('sha256');
  let text = '';
  let isFirst = true;
  for (const line of reports.lines()) {
    text += isFirst ? line : `\n${line}`;
    isFirst = false;
    if (text.length < 2 ** 16) continue;
    hash.update(text);
    text = '';
  }
  return hash.update(text).digest('hex');
}

/**
 * The hashes that the benchmark publishes for seed 23 (`reference/correctness_hash.txt`), by the
 * names that its README gives the files. Three engines that others wrote agree on them.
 */
const PUBLISHED: Readonly<Record<string, string>> = {
  'orders_flash-crash_s23_n1000000.bin':
    'cff8d3f94b709fc64a8b2058a6ca4fb6920364904796e46906895e362d2bb16b',
  'orders_normal_s23_n1000000.bin':
    'e9b2e3926854410b01a035aeb25dd05f1e597c233be8263de9eb49b6713d367e',
  'orders_static_s23_n1000000.bin':
    '9803843ee404fc29c9a0aa5614f8f0d5a58b5c44fcac9ef89067886fcaaa30d1',
  'orders_swing-25_s23_n1000000.bin':
    '61a84be9469661bd039e00dbc9a7c011e70b6ace37aadfe60045ea083b05f4df',
  'orders_swing-40_s23_n1000000.bin':
    '3cb0175e7982ff09ea220d1feaee3844cf9116a5ce455757879dea1d880b9b9f',
};

/** What the hash of a file's reports says. Throws if another one is published for its name. */
export function comparedToPublished(file: string, hash: string): string {
  const published = PUBLISHED[file];
  if (published === undefined) {
    const [name] = Object.entries(PUBLISHED).find(([, other]) => other === hash) ?? [];
    return name === undefined ? 'none is published for this name' : `as published for ${name}`;
  }
  if (published === hash) return 'as published';
  throw new Error(`${file}: the reports have SHA-256 ${hash}, and ${published} is published`);
}

/**
 * Displayed sizes that fill once for all accounts which share them, over all shards of a server.
 * How much of a level is taken lies in memory that the shards share. A shard takes under a lock,
 * before it writes a fact of it. Rules T230 to T235 (engine/RULES.md).
 *
 * Shards read the same feed, each at its own place. So a level is told by its times: how a shard's
 * view of it relates to what others have taken of it.
 */

import { invariant } from '../base/invariant.ts';
import type {
  Contracts,
  ContractsE2,
  EpochMs,
  MarketNumber,
  PriceCents,
  Side,
} from '../base/units.ts';

/** The memory that the shards of a server share. */
export type LiquidityMemory = {
  shards: number;
  control: SharedArrayBuffer;
  markets: SharedArrayBuffer;
  levels: SharedArrayBuffer;
  volumes: SharedArrayBuffer;
};

/** A displayed level as one shard sees it. */
export type LevelView = {
  askCents: PriceCents;
  size: Contracts;
  /** When it got this size: at one of these times, or between them. */
  lowMs: EpochMs;
  highMs: EpochMs;
  /** Differs for each change of a level that this shard has seen, from 1 on. */
  version: number;
};

/** So many contracts of a level. */
export type LevelWanted = { view: LevelView; contracts: Contracts };

/** A part of a level that was taken, as its fact has it. */
export type LevelTaken = {
  market: MarketNumber;
  side: Side;
  askCents: PriceCents;
  contracts: Contracts;
  /** What the level displays, and the number of this display: a later one has a higher number. */
  shown: Contracts;
  display: number;
};

/** What a shard's facts have taken of a level, of its last display there. */
export type KeptLevel = LevelTaken;

/** A print or an addition: equal in every shard. */
export type VolumeName = {
  market: MarketNumber;
  atMs: EpochMs;
  isPrint: boolean;
  side: Side;
  /** In ten-thousandths of a dollar. */
  price: number;
  contracts: ContractsE2;
  /** Tells it from others at this moment. */
  detail: number;
};

/** Places of `control`, in words of four bytes; one more than a shard's number holds the lock. */
const LOCK = 0;
/** Rows of levels that were ever used, and one more than the first free one. */
const ROWS = 1;
const FREE = 2;
/** How often the clock was set back, by the shard that was told of it most often. */
const CLOCK_SETS = 3;
const CONTROL_WORDS = 4;

/** Places in the row of a level. */
const NEXT = 0;
const KEY = 1;
const DISPLAY = 2;
const SHOWN = 3;
const LOW_MS = 4;
const HIGH_MS = 5;
/** `LOW_MS` and `HIGH_MS` before the clock was set back. */
const LOW_MS_BEFORE = 6;
const HIGH_MS_BEFORE = 7;
/** By all shards. */
const TAKEN = 8;
/** By shard: what it has taken; after them, the version of the level that it knows to be this one. */
const BY_SHARD = 9;

/** As `LOW_MS`: the clock was set back since. It is before each time that a view can have. */
const BEFORE_CLOCK = -1;
/** In place of a version: the shard knows that each version of its level is a later display. */
const LATER = -1;

const FIRST_MARKETS = 1024;
const MARKETS_MAX = 2 ** 22;
const FIRST_LEVELS = 64;
/** If so many levels are in use, no other level fills: the markets of 5,000 full books. */
const LEVELS_MAX = 2 ** 20;

/** Volumes are remembered in groups, by their names; a later one takes the place of the oldest. */
const VOLUME_GROUPS = 128;
const GROUP_VOLUMES = 8;
const VOLUME_MARKET = 0;
const VOLUME_MS = 1;
const VOLUME_PRICE = 2;
const VOLUME_SIZE = 3;
const VOLUME_DETAIL = 4;
/** How many equal ones came before it. */
const VOLUME_NTH = 5;
const VOLUME_USED = 6;
const VOLUME_WORDS = 7;
const GROUP_WORDS = GROUP_VOLUMES * VOLUME_WORDS;
const PRICES = 2 ** 14;

/** How long a shard sleeps for the lock, which is held for less than a microsecond. */
const WAIT_MS = 1;

const wordsOfLevel = (shards: number) => BY_SHARD + 2 * shards;
const F64 = Float64Array.BYTES_PER_ELEMENT;
const I32 = Int32Array.BYTES_PER_ELEMENT;

export function liquidityMemory(shards: number): LiquidityMemory {
  const levelBytes = wordsOfLevel(shards) * F64;
  return {
    shards,
    control: new SharedArrayBuffer(CONTROL_WORDS * I32),
    markets: growing(FIRST_MARKETS * I32, MARKETS_MAX * I32),
    levels: growing(FIRST_LEVELS * levelBytes, LEVELS_MAX * levelBytes),
    volumes: new SharedArrayBuffer(VOLUME_GROUPS * GROUP_WORDS * F64),
  };
}

/** Only what is in use takes memory of the machine. */
function growing(bytes: number, maxByteLength: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes, { maxByteLength });
}

/** What is taken, as one shard reads and changes it. */
export class MarketLiquidity {
  readonly #memory: LiquidityMemory;
  readonly #shard: number;
  readonly #control: Int32Array;
  /** By market: one more than the row of its first level; 0: none is taken. */
  readonly #markets: Int32Array;
  readonly #levels: Float64Array;
  readonly #volumes: Float64Array;
  readonly #levelWords: number;
  /** The volumes of one moment that have met orders of this shard. */
  #met: VolumeName[] = [];
  #hasJoined = false;
  /** How often this shard's clock was set back, of `CLOCK_SETS`. */
  #clockSets = 0;

  constructor(memory: LiquidityMemory, shard: number) {
    invariant(shard < memory.shards, 'a shard shares sizes that were made for fewer');
    this.#memory = memory;
    this.#shard = shard;
    this.#control = new Int32Array(memory.control);
    this.#markets = new Int32Array(memory.markets);
    this.#levels = new Float64Array(memory.levels);
    this.#volumes = new Float64Array(memory.volumes);
    this.#levelWords = wordsOfLevel(memory.shards);
  }

  /** Whether anything was ever taken. */
  get isUsed(): boolean {
    return this.#control[ROWS] !== 0;
  }

  /** Whether anything is taken of a market. */
  isTaken(market: MarketNumber): boolean {
    return this.#firstOf(market) !== 0;
  }

  /** What is left of a level. */
  freeAt(market: MarketNumber, side: Side, view: LevelView): Contracts {
    // Nothing was ever taken of most markets.
    if (this.#firstOf(market) === 0) return this.#isFull() ? 0 : view.size;
    return this.#locked(() => this.#free(this.#find(market, side, view.askCents), view));
  }

  /**
   * Takes all of this, or nothing: null, if another shard was faster.
   *
   * @param nowMs a new display is numbered by it
   */
  take(
    market: MarketNumber,
    side: Side,
    wanted: readonly LevelWanted[],
    nowMs: EpochMs,
  ): LevelTaken[] | null {
    return this.#locked(() => {
      for (const { view, contracts } of wanted) {
        invariant(contracts > 0, 'nothing is taken of a level');
        const at = this.#find(market, side, view.askCents);
        if (this.#free(at, view) < contracts) return null;
      }
      return wanted.map(({ view, contracts }) => {
        return this.#takeOne(market, side, view, { contracts, nowMs });
      });
    });
  }

  /** A volume meets this shard's orders now. @returns how many equal ones have met them before */
  nextVolume(name: VolumeName): number {
    if (this.#met[0]?.atMs !== name.atMs) this.#met = [];
    const nth = this.#met.filter((one) => isSameVolume(one, name)).length;
    this.#met.push(name);
    return nth;
  }

  /**
   * Takes of a volume what is left of it for all who share it, at most `wantedE2`.
   *
   * @param nth of `nextVolume`
   * @returns what it took
   */
  takeVolume(
    name: VolumeName,
    nth: number,
    availableE2: ContractsE2,
    wantedE2: ContractsE2,
  ): ContractsE2 {
    return this.#locked(() => {
      const at = this.#volumeAt(name, nth);
      if (at === NONE) return 0;
      const usedE2 = this.#volumes[at + VOLUME_USED]!;
      const takenE2 = Math.max(0, Math.min(availableE2 - usedE2, wantedE2));
      this.#volumes[at + VOLUME_USED] = usedE2 + takenE2;
      return takenE2;
    });
  }

  /** The market has a result: nothing of it trades any more. */
  drop(market: MarketNumber): void {
    if (this.#firstOf(market) === 0) return;
    this.#locked(() => {
      for (let row = this.#firstOf(market); row !== 0; ) {
        const at = (row - 1) * this.#levelWords;
        const next = this.#levels[at + NEXT]!;
        this.#levels[at + NEXT] = this.#control[FREE]!;
        this.#control[FREE] = row;
        row = next;
      }
      Atomics.store(this.#markets, market, 0);
    });
  }

  /**
   * This shard starts, also while others trade: from here on it has taken what its facts say. What
   * it had taken without a fact is free again.
   */
  rejoin(kept: Iterable<KeptLevel>): void {
    // A thread of this shard that ended in here has left its lock.
    Atomics.compareExchange(this.#control, LOCK, this.#shard + 1, 0);
    this.#hasJoined = true;
    this.#locked(() => {
      this.#clockSets = this.#control[CLOCK_SETS]!;
      for (const at of this.#all()) this.#giveBack(at);
      for (const { market, side, askCents, contracts, shown, display } of kept) {
        const found = this.#find(market, side, askCents);
        const at = found === NONE ? this.#claim(market, side, askCents) : found;
        if (at === NONE) return;
        const last = this.#levels[at + DISPLAY]!;
        if (display < last) continue;
        if (display > last) this.#begin(at, { shown, display, lowMs: 0, highMs: 0 });
        this.#add(at, contracts);
      }
    });
  }

  /**
   * An operator has set the clock back: from here on no time from before says anything. So this
   * shard notes now what the times say of the levels that it shows. Another shard may have set its
   * clock already.
   *
   * @param viewOf a level as this shard shows it; null: it shows nothing of the market
   */
  timeWasSet(
    viewOf: (market: MarketNumber, side: Side, askCents: PriceCents) => LevelView | null,
  ): void {
    const words = this.#levels;
    this.#locked(() => {
      const isFirst = ++this.#clockSets > this.#control[CLOCK_SETS]!;
      if (isFirst) this.#control[CLOCK_SETS] = this.#clockSets;
      for (let market = 0; market < this.#markets.length; market++) {
        for (const at of this.#rowsOf(market)) {
          if (isFirst) {
            words[at + LOW_MS_BEFORE] = words[at + LOW_MS]!;
            words[at + HIGH_MS_BEFORE] = words[at + HIGH_MS]!;
            words[at + LOW_MS] = BEFORE_CLOCK;
            words[at + HIGH_MS] = 0;
          }
          const view = viewOf(market, ...levelOf(words[at + KEY]!));
          if (view === null) continue;
          const relation = this.#relation(at, view, LOW_MS_BEFORE, HIGH_MS_BEFORE);
          if (relation === 'same') words[at + this.#version] = view.version;
          if (relation === 'newer') words[at + this.#version] = LATER;
        }
      }
      this.#volumes.fill(0);
    });
  }

  /**
   * Whether what is taken here is what the facts of this shard say, of every level. For an audit.
   * Empty for a shard that has not joined.
   */
  problems(kept: Iterable<KeptLevel>): string[] {
    if (!this.#hasJoined) return [];
    return this.#locked(() => [...this.#differences([...kept])]);
  }

  *#differences(kept: readonly KeptLevel[]): Generator<string> {
    const words = this.#levels;
    const here = new Set<number>();
    for (const { market, side, askCents, contracts, display } of kept) {
      const name = `market ${market}, ask of ${side} at ${askCents}`;
      const at = this.#find(market, side, askCents);
      const last = at === NONE ? 0 : words[at + DISPLAY]!;
      if (last < display) yield `${name}: its facts have taken of a display that nobody knows`;
      if (last !== display) continue;
      here.add(at);
      const taken = words[at + BY_SHARD + this.#shard]!;
      if (taken !== contracts) yield `${name}: its facts took ${contracts}, and it took ${taken}`;
    }
    for (const at of this.#all()) {
      const by = words.subarray(at + BY_SHARD, at + BY_SHARD + this.#memory.shards);
      const ofAll = by.reduce((total, one) => total + one, 0);
      const isSum = ofAll === words[at + TAKEN] && ofAll <= words[at + SHOWN]!;
      if (!isSum) yield 'more of a level is taken than it shows, or than its shards took';
      if (by[this.#shard] !== 0 && !here.has(at)) yield 'a level is taken without a fact';
    }
  }

  #free(at: number, view: LevelView): Contracts {
    if (at === NONE) return this.#isFull() ? 0 : view.size;
    const left = this.#levels[at + SHOWN]! - this.#levels[at + TAKEN]!;
    switch (this.#relation(at, view)) {
      case 'newer':
        return view.size;
      case 'same':
        return left;
      default:
        return Math.min(view.size, left);
    }
  }

  #takeOne(
    market: MarketNumber,
    side: Side,
    view: LevelView,
    { contracts, nowMs }: { contracts: Contracts; nowMs: EpochMs },
  ): LevelTaken {
    const words = this.#levels;
    const found = this.#find(market, side, view.askCents);
    const relation = found === NONE ? 'newer' : this.#relation(found, view);
    const at = found === NONE ? this.#claim(market, side, view.askCents) : found;
    invariant(at !== NONE, 'a level is taken that has no room');
    if (relation === 'newer') {
      const display = Math.max(words[at + DISPLAY]! + 1, nowMs);
      this.#begin(at, { shown: view.size, display, lowMs: view.lowMs, highMs: view.highMs });
    } else if (relation === 'same') {
      words[at + LOW_MS] = Math.max(words[at + LOW_MS]!, view.lowMs);
      words[at + HIGH_MS] = Math.min(words[at + HIGH_MS]!, view.highMs);
    }
    if (relation !== 'older') words[at + this.#version] = view.version;
    this.#add(at, contracts);
    const { askCents } = view;
    const [shown, display] = [words[at + SHOWN]!, words[at + DISPLAY]!];
    return { market, side, askCents, contracts, shown, display };
  }

  /**
   * Whether a shard sees the display that others have taken from, one after it, or one before it. A
   * shard that has taken from it knows for certain; else the times decide, and if they leave it
   * open, an equal size is the same display.
   */
  #relation(
    at: number,
    { size, lowMs, highMs, version }: LevelView,
    lowAt = LOW_MS,
    highAt = HIGH_MS,
  ): 'newer' | 'same' | 'older' {
    const words = this.#levels;
    const seen = words[at + this.#version]!;
    if (seen !== 0) return seen === version ? 'same' : 'newer';
    if (lowMs > words[at + highAt]!) return 'newer';
    if (highMs < words[at + lowAt]!) return 'older';
    if (size === words[at + SHOWN]) return 'same';
    return highMs > words[at + highAt]! ? 'newer' : 'older';
  }

  #begin(
    at: number,
    of: { shown: Contracts; display: number; lowMs: EpochMs; highMs: EpochMs },
  ): void {
    const words = this.#levels;
    words[at + SHOWN] = of.shown;
    words[at + DISPLAY] = of.display;
    words[at + LOW_MS] = of.lowMs;
    words[at + HIGH_MS] = of.highMs;
    words.fill(0, at + TAKEN, at + this.#levelWords);
  }

  #add(at: number, contracts: Contracts): void {
    const words = this.#levels;
    words[at + TAKEN]! += contracts;
    words[at + BY_SHARD + this.#shard]! += contracts;
    invariant(words[at + TAKEN]! <= words[at + SHOWN]!, 'more of a level is taken than it shows');
  }

  /** Of this shard's part. */
  #giveBack(at: number): void {
    const words = this.#levels;
    words[at + TAKEN]! -= words[at + BY_SHARD + this.#shard]!;
    words[at + BY_SHARD + this.#shard] = 0;
    words[at + this.#version] = 0;
  }

  /** The place of this shard's version in a row. */
  get #version(): number {
    return BY_SHARD + this.#memory.shards + this.#shard;
  }

  #firstOf(market: MarketNumber): number {
    return market < this.#markets.length ? Atomics.load(this.#markets, market) : 0;
  }

  #find(market: MarketNumber, side: Side, askCents: PriceCents): number {
    const key = keyOf(side, askCents);
    for (let row = this.#firstOf(market); row !== 0; ) {
      const at = (row - 1) * this.#levelWords;
      if (this.#levels[at + KEY] === key) return at;
      row = this.#levels[at + NEXT]!;
    }
    return NONE;
  }

  /** Every level in use. */
  *#all(): Generator<number> {
    for (let market = 0; market < this.#markets.length; market++) {
      yield* this.#rowsOf(market);
    }
  }

  /** Every level of a market in use. */
  *#rowsOf(market: MarketNumber): Generator<number> {
    for (let row = this.#firstOf(market); row !== 0; ) {
      const at = (row - 1) * this.#levelWords;
      yield at;
      row = this.#levels[at + NEXT]!;
    }
  }

  #isFull(): boolean {
    return Atomics.load(this.#control, FREE) === 0 && this.#rows === LEVELS_MAX;
  }

  get #rows(): number {
    return Atomics.load(this.#control, ROWS);
  }

  /** A row of a level that has none; `NONE`: there is no room. */
  #claim(market: MarketNumber, side: Side, askCents: PriceCents): number {
    const control = this.#control;
    if (this.#isFull()) return NONE;
    const free = control[FREE]!;
    const row = free === 0 ? ++control[ROWS]! : free;
    const at = (row - 1) * this.#levelWords;
    const bytes = (at + this.#levelWords) * F64;
    const { levels, markets } = this.#memory;
    if (bytes > levels.byteLength) {
      levels.grow(Math.min(2 * levels.byteLength, levels.maxByteLength));
    }
    if (free !== 0) control[FREE] = this.#levels[at + NEXT]!;
    const marketBytes = (market + 1) * I32;
    if (marketBytes > markets.byteLength) {
      markets.grow(Math.min(Math.max(marketBytes, 2 * markets.byteLength), markets.maxByteLength));
    }
    this.#levels.fill(0, at, at + this.#levelWords);
    this.#levels[at + KEY] = keyOf(side, askCents);
    this.#levels[at + NEXT] = this.#firstOf(market);
    Atomics.store(this.#markets, market, row);
    return at;
  }

  /**
   * Where a volume is remembered, from now on at the latest. `NONE`: its group remembers only
   * others of its time and later ones, so others may have had all of it.
   */
  #volumeAt(name: VolumeName, nth: number): number {
    const words = this.#volumes;
    const first = groupOf(name, nth) * GROUP_WORDS;
    let oldest = first;
    for (let at = first; at < first + GROUP_WORDS; at += VOLUME_WORDS) {
      if (words[at + VOLUME_NTH] === nth && this.#isVolume(at, name)) return at;
      if (words[at + VOLUME_MS]! < words[oldest + VOLUME_MS]!) oldest = at;
    }
    if (words[oldest + VOLUME_MS]! >= name.atMs) return NONE;
    words[oldest + VOLUME_MARKET] = name.market;
    words[oldest + VOLUME_MS] = name.atMs;
    words[oldest + VOLUME_PRICE] = placeOf(name);
    words[oldest + VOLUME_SIZE] = name.contracts;
    words[oldest + VOLUME_DETAIL] = name.detail;
    words[oldest + VOLUME_NTH] = nth;
    words[oldest + VOLUME_USED] = 0;
    return oldest;
  }

  #isVolume(at: number, name: VolumeName): boolean {
    const words = this.#volumes;
    return (
      words[at + VOLUME_MS] === name.atMs &&
      words[at + VOLUME_MARKET] === name.market &&
      words[at + VOLUME_PRICE] === placeOf(name) &&
      words[at + VOLUME_SIZE] === name.contracts &&
      words[at + VOLUME_DETAIL] === name.detail
    );
  }

  /** No other shard reads or changes anything meanwhile. */
  #locked<T>(run: () => T): T {
    const control = this.#control;
    const own = this.#shard + 1;
    for (;;) {
      const holder = Atomics.compareExchange(control, LOCK, 0, own);
      if (holder === 0) break;
      invariant(holder !== own, 'a shard waits for a lock that it holds');
      Atomics.wait(control, LOCK, holder, WAIT_MS);
    }
    try {
      return run();
    } finally {
      Atomics.store(control, LOCK, 0);
      Atomics.notify(control, LOCK, 1);
    }
  }
}

const NONE = -1;

function keyOf(side: Side, askCents: PriceCents): number {
  return side === 'yes' ? askCents : 100 + askCents;
}

function levelOf(key: number): [Side, PriceCents] {
  return key < 100 ? ['yes', key] : ['no', key - 100];
}

/** Kind, side and price as one number. */
function placeOf({ isPrint, side, price }: VolumeName): number {
  return ((isPrint ? 2 : 0) + (side === 'yes' ? 1 : 0)) * PRICES + price;
}

function groupOf({ market, atMs, price, contracts, detail }: VolumeName, nth: number): number {
  const when = Math.imul(market + 1, 0x9e3779b1) ^ Math.imul(atMs % 2 ** 31, 0x85ebca6b);
  const what = (price * 31 + contracts) * 31 + detail * 31 + nth;
  const mixed = when ^ Math.imul(what % 2 ** 31, 0xc2b2ae35);
  return (mixed >>> 16) % VOLUME_GROUPS;
}

function isSameVolume(one: VolumeName, other: VolumeName): boolean {
  return (
    one.market === other.market &&
    one.atMs === other.atMs &&
    one.contracts === other.contracts &&
    one.detail === other.detail &&
    placeOf(one) === placeOf(other)
  );
}

/**
 * The `quotes:` channels. A shard is asked which of the subscribed quotes have changed. Quotes
 * whose market has new ticks are asked for at once. All quotes are asked for in turn, because a
 * quote also changes as time passes. Changes in between count as one, so that no flood of ticks
 * makes a flood of messages. Rules J10, J11, J34 (api/RULES.md).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { marketName } from '../../engine/base/units.ts';
import type { Engine } from '../base/engine.ts';
import { ApiError } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';
import type { CatalogView } from '../catalog/catalog-view.ts';
import type { ChangedMarkets } from '../market-data/changed-markets.ts';
import {
  type ChannelEnd,
  elsewhere,
  type Numbering,
  type Publish,
  TopicChannel,
  type TopicChannelOptions,
} from './channel.ts';
import { type JsonObject, mergePatch } from './merge-patch.ts';

const PREFIX = 'quotes:';
const LOOK_EVERY_MS = 20;
/** Each subscribed quote is asked for once in so many looks: every half second. */
const LOOKS_A_ROUND = 25;
/** At most so many are asked for at once, and so many whose quote is not known yet. */
const ASKED_MAX = 512;
const UNKNOWN_MAX = 32;
/** After so long the thread does other work. */
const TURN_MS = 2;

export type QuoteChannelsOptions = {
  engine: Pick<Engine, 'askAny' | 'nowMs'>;
  catalog: CatalogView;
  changed: ChangedMarkets;
  numbering: Numbering;
  publish: Publish;
  /** The instrument is in no catalog any more, or another node of the cluster has its quotes. */
  onEnd(channel: QuoteChannel, why: ChannelEnd): void;
  log: Log;
};

/** `{"changes":[[its place in the question, version, Quote or null], …]}` */
type Changes = { changes: [at: number, version: number, quote: JsonObject | null][] };

export class QuoteChannels {
  readonly #options: QuoteChannelsOptions;
  readonly #channels = new Map<string, QuoteChannel>();
  /** By `venue/venueMarketId`, of the instruments of the catalog that was indexed. */
  #byMarket = new Map<string, Set<QuoteChannel>>();
  #indexed: object | null = null;
  readonly #urgent = new Set<QuoteChannel>();
  /** The channels that have not had their turn in this round. */
  #round: Iterator<QuoteChannel> = [].values();
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;
  #notBeforeMs = 0;

  constructor(options: QuoteChannelsOptions) {
    this.#options = options;
  }

  /** The channel of a name; undefined: no instrument of the catalog has it. */
  channel(name: string): QuoteChannel | undefined {
    const known = this.#channels.get(name);
    if (known !== undefined) return known.taken();
    const id = name.slice(PREFIX.length);
    if (!name.startsWith(PREFIX) || this.#options.catalog.instrument(id)?.id !== id)
      return undefined;
    const { numbering, publish, engine } = this.#options;
    const nowMs = () => engine.nowMs();
    const channel = new QuoteChannel(id, { name, numbering, publish, nowMs }, () => {
      this.#channels.delete(name);
      this.#urgent.delete(channel);
      for (const market of this.#marketsOf(channel)) this.#byMarket.get(market)?.delete(channel);
    });
    this.#channels.set(name, channel);
    this.#urgent.add(channel);
    this.#list(channel);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
    return channel.taken();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#channels.size === 0) return this.#rest();
    if (this.#isLooking || performance.now() < this.#notBeforeMs) return;
    this.#isLooking = true;
    const work = new Slices();
    let isMore = false;
    try {
      await this.#ask(this.#next(), work);
      isMore = this.#urgent.size > 0;
    } catch (error) {
      this.#notAnswered(error);
    } finally {
      this.#isLooking = false;
    }
    // At least half of the thread's time is left for requests.
    const restMs = work.takenMs;
    this.#notBeforeMs = performance.now() + restMs;
    if (isMore) setTimeout(() => void this.#look(), restMs).unref();
  }

  #notAnswered(error: unknown): void {
    const { onEnd, log } = this.#options;
    const why = elsewhere(error);
    // A shard that is starting, or has too much to do, is asked again in the next round.
    if (why === null) return log.warn({ err: error }, 'changed quotes could not be asked for');
    for (const channel of [...this.#channels.values()]) onEnd(channel, why);
  }

  #rest(): void {
    this.close();
    this.#timer = null;
  }

  /** The channels to ask about now. */
  #next(): QuoteChannel[] {
    this.#noteChanged();
    const asked = new Set<QuoteChannel>();
    let unknown = 0;
    // The answer has the whole quote of these.
    const isTooMuch = ({ version }: QuoteChannel) => version === 0 && ++unknown > UNKNOWN_MAX;
    for (const channel of this.#urgent) {
      if (asked.size === ASKED_MAX) break;
      if (isTooMuch(channel)) continue;
      asked.add(channel);
      this.#urgent.delete(channel);
    }
    const share = Math.ceil(this.#channels.size / LOOKS_A_ROUND);
    for (let turn = 0; turn < share && asked.size < ASKED_MAX; turn++) {
      const { value, done } = this.#round.next();
      if (done === true) this.#round = this.#channels.values();
      else if (!asked.has(value) && !isTooMuch(value)) asked.add(value);
    }
    return [...asked];
  }

  #noteChanged(): void {
    const { catalog, changed } = this.#options;
    this.#index();
    for (const market of changed.take()) {
      for (const channel of this.#byMarket.get(catalog.marketName(market)) ?? []) {
        this.#urgent.add(channel);
      }
    }
  }

  #index(): void {
    const { catalog } = this.#options;
    if (this.#indexed === catalog.instruments()) return;
    this.#indexed = catalog.instruments();
    this.#byMarket = new Map();
    for (const channel of this.#channels.values()) this.#list(channel);
  }

  #list(channel: QuoteChannel): void {
    for (const market of this.#marketsOf(channel)) {
      const listed = this.#byMarket.get(market);
      if (listed === undefined) this.#byMarket.set(market, new Set([channel]));
      else listed.add(channel);
    }
  }

  #marketsOf({ id }: QuoteChannel): string[] {
    const listings = this.#options.catalog.instrument(id)?.instrument.listings ?? [];
    return listings.map(({ venue, venueMarketId }) => marketName(venue, venueMarketId));
  }

  async #ask(asked: readonly QuoteChannel[], work: Slices): Promise<void> {
    if (asked.length === 0) return;
    const { engine } = this.#options;
    const asking = engine.askAny({
      kind: 'quote_changes',
      atMs: engine.nowMs(),
      instruments: asked.map(({ id }) => id),
      versions: asked.map(({ version }) => version),
    });
    const reply = await work.without(asking);
    if (!reply.ok) throw new Error(reply.message);
    const { changes } = JSON.parse(reply.body) as Changes;
    for (const [at, version, quote] of changes) {
      const channel = asked[at]!;
      if (this.#channels.get(channel.name) !== channel) continue;
      if (quote === null) this.#options.onEnd(channel, new ApiError('instrument_not_found'));
      else channel.show(version, quote);
      if (work.isLong) await work.without(nextTurn());
    }
  }
}

/** Work that is done piece by piece, and the time that it takes without its pauses. */
class Slices {
  #beforeMs = 0;
  #startedMs = performance.now();

  get takenMs(): number {
    return this.#beforeMs + performance.now() - this.#startedMs;
  }

  /** Whether this piece has taken its turn's time. */
  get isLong(): boolean {
    return performance.now() - this.#startedMs > TURN_MS;
  }

  /** Waits, which ends this piece. */
  async without<T>(waiting: Promise<T>): Promise<T> {
    this.#beforeMs = this.takenMs;
    try {
      return await waiting;
    } finally {
      this.#startedMs = performance.now();
    }
  }
}

export class QuoteChannel extends TopicChannel {
  readonly id: string;
  /** The version of the last shown quote, as shards count; 0: there was none. */
  version = 0;
  #quote: JsonObject | null = null;
  #text: string | null = null;
  readonly #drop: () => void;

  /** @param drop called when its last connection has released it */
  constructor(id: string, options: TopicChannelOptions, drop: () => void) {
    super(options);
    this.id = id;
    this.#drop = drop;
  }

  protected override lastReleased(): void {
    this.#drop();
  }

  /** Sends the changes. A change of `asOf` alone is none. */
  show(version: number, quote: JsonObject): void {
    const before = this.#quote;
    this.version = version;
    const patch = before === null ? null : mergePatch(before, quote);
    if (patch !== null && Object.keys(patch).every((name) => name === 'asOf')) return;
    this.#quote = quote;
    this.#text = null;
    if (patch === null) this.know(() => this.#snapshotText());
    else this.change(JSON.stringify(patch));
  }

  #snapshotText(): string {
    this.#text ??= JSON.stringify(this.#quote);
    return this.#text;
  }
}

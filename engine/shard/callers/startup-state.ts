/**
 * The messages for a shard whose thread starts again, or whose disk has space again. Rules D11,
 * K62, K63 (engine/RULES.md, feeds/FORMATS.md).
 */

import { invariant } from '../../base/invariant.ts';
import { NumberSet } from '../../base/number-set.ts';
import type { EpochMs, MarketNumber, SourceNumber, StreamConnection } from '../../base/units.ts';
import type { Message } from '../../format/codec.ts';
import { outdatedStatuses } from '../../rules/catalog.ts';
import { type CatalogChange, changeOf } from '../../rules/catalog-change.ts';
import type { Catalog } from '../../rules/catalog-entries.ts';
import type { FeeEntry } from '../../rules/fees.ts';
import type {
  ClosingTick,
  GameTick,
  HeartbeatTick,
  MarketOutcome,
  QuoteTick,
  ResultTick,
  SetSwitches,
  SettleMarket,
  StatusTick,
  Tick,
} from '../../rules/messages.ts';
import type { OpenReport } from '../store/open-report.ts';
import { LastLevels } from './last-levels.ts';
import { LastQuote } from './last-quote.ts';

export class StartupState {
  #catalog: Catalog | null = null;
  #switches: SetSwitches | null = null;
  #fees: readonly FeeEntry[] | null = null;
  /** The open connections of the stream that orders end with. */
  readonly connections = new Set<StreamConnection>();
  /** By market. */
  readonly #quotes = new Map<MarketNumber, LastQuote>();
  readonly #statuses = new Map<number, StatusTick>();
  readonly #closings = new Map<number, ClosingTick>();
  /** Of fill models that follow levels. */
  readonly #levels = new LastLevels();
  /** The last tick of each connection with quotes: its time is their age. */
  readonly #heartbeats = new Map<SourceNumber, HeartbeatTick>();
  /**
   * A market's first result, and a listed game's last status. Venues send them once, and they stay
   * true. They are kept in the order of their arrival, because the first of a market's result and
   * its game's end settles the market.
   */
  readonly #results = new ResultRows();
  readonly #games = new Map<string, { turn: number; tick: GameTick }>();
  /** The last correction of a market, after all that is final. Rule S25 (engine/RULES.md). */
  readonly #corrections = new Map<MarketNumber, SettleMarket>();
  readonly #listedGames = new Set<string>();
  #wasSetBack = false;

  /**
   * @returns for shards with the catalog before: the whole if there is none, else what changes;
   * null: nothing does
   */
  setCatalog(catalog: Catalog): { catalog: Catalog } | { change: CatalogChange } | null {
    const before = this.#catalog;
    const isLonger =
      catalog.marketNames.length >= (before?.marketNames.length ?? 0) &&
      catalog.instrumentIds.length >= (before?.instrumentIds.length ?? 0);
    invariant(isLonger, 'a catalog removes markets');
    const outdated = outdatedStatuses(before?.games ?? [], catalog.games);
    for (const slug of outdated) this.#games.delete(slug);
    for (const { slug } of catalog.games) this.#listedGames.add(slug);
    this.#catalog = catalog;
    if (before === null) return { catalog };
    const change = changeOf(before, catalog);
    return change === null ? null : { change };
  }

  setSwitches(switches: SetSwitches): void {
    this.#switches = switches;
  }

  setFees(lines: readonly FeeEntry[]): void {
    this.#fees = lines;
  }

  /** @returns a function that takes it back after a refusal */
  keepCorrection(command: SettleMarket): () => void {
    const { market } = command;
    const before = this.#corrections.get(market);
    this.#corrections.set(market, command);
    return () => {
      if (this.#corrections.get(market) !== command) return;
      if (before === undefined) this.#corrections.delete(market);
      else this.#corrections.set(market, before);
    };
  }

  keep(tick: Tick): void {
    // Nothing shows what a venue says of a market that is over.
    if ('market' in tick && this.#results.has(tick.market)) return;
    switch (tick.kind) {
      case 'quote':
        this.#keepQuote(tick);
        break;
      case 'status':
        this.#statuses.set(tick.market, tick);
        break;
      case 'closing':
        this.#closings.set(tick.market, tick);
        break;
      case 'result':
        this.#keepResult(tick);
        break;
      case 'game':
        if (this.#listedGames.has(tick.game)) this.#keepGame(tick);
        break;
      case 'down':
        this.#forgetQuotesOf(tick.source);
        break;
      case 'heartbeat':
        this.#heartbeats.set(tick.source, tick);
        break;
      case 'level':
      case 'levels':
        this.#levels.take(tick);
        break;
      case 'trade':
      case 'print':
      case 'time':
        break;
      default:
        tick satisfies never;
    }
  }

  /** Time was set back by so much. The messages here keep their age. */
  setBack(byMs: number): void {
    invariant(byMs > 0, 'time was not set back');
    this.#wasSetBack = true;
    const earlier = <T extends Tick>(tick: T): T => ({ ...tick, atMs: tick.atMs - byMs });
    const all = [this.#statuses, this.#closings, this.#heartbeats];
    for (const kept of all as Map<unknown, Tick>[]) {
      for (const [key, tick] of kept) kept.set(key, earlier(tick));
    }
    this.#results.setBack(byMs);
    for (const game of this.#games.values()) game.tick = earlier(game.tick);
    for (const quote of this.#quotes.values()) quote.setBack(byMs);
    this.#levels.setBack(byMs);
    if (this.#switches !== null) {
      this.#switches = { ...this.#switches, atMs: this.#switches.atMs - byMs };
    }
  }

  /** For a shard with this report; null: it may lack any of them. */
  messages(atMs: EpochMs, report: Pick<OpenReport, 'results'> | null = null): Message[] {
    const messages: Message[] = [];
    // Sent first, because the shard may have failed before it took it.
    if (this.#wasSetBack) messages.push({ kind: 'clock', atMs, toMs: atMs });
    // Nothing may fill an order whose connection is gone.
    messages.push({ kind: 'connected', atMs, connections: [...this.connections] });
    if (this.#catalog !== null) messages.push({ kind: 'catalog', atMs, catalog: this.#catalog });
    if (this.#fees !== null) messages.push({ kind: 'fees', atMs, lines: this.#fees });
    if (this.#switches !== null) messages.push(this.#switches);
    for (const tick of this.#finals()) {
      const has = tick.kind === 'result' ? report?.results[tick.market] : null;
      if (has == null) messages.push(tick);
    }
    for (const command of this.#corrections.values()) messages.push({ ...command, atMs });
    // Before statuses: a market that is open has outlived an earlier closing time.
    messages.push(...this.#closings.values());
    messages.push(...this.#statuses.values());
    for (const quote of this.#quotes.values()) messages.push(quote.tick());
    messages.push(...this.#heartbeats.values());
    messages.push(...this.#levels.ticks());
    return messages;
  }

  #keepQuote(tick: QuoteTick): void {
    const kept = this.#quotes.get(tick.market);
    if (kept === undefined) this.#quotes.set(tick.market, new LastQuote(tick));
    else kept.replace(tick);
  }

  #keepResult(tick: ResultTick): void {
    const { market } = tick;
    this.#results.add(tick);
    this.#statuses.delete(market);
    this.#closings.delete(market);
    this.#quotes.delete(market);
    this.#levels.drop(market);
  }

  /** A repeated status keeps its place; a changed status moves to the end. */
  #keepGame(tick: GameTick): void {
    if (this.#games.get(tick.game)?.tick.status === tick.status) return;
    this.#games.delete(tick.game);
    this.#games.set(tick.game, { turn: this.#results.count, tick });
  }

  /** In the order of their arrival. */
  *#finals(): Generator<ResultTick | GameTick> {
    let next = 0;
    for (const { turn, tick } of this.#games.values()) {
      while (next < turn) yield this.#results.tick(next++);
      yield tick;
    }
    while (next < this.#results.count) yield this.#results.tick(next++);
  }

  #forgetQuotesOf(source: SourceNumber): void {
    this.#heartbeats.delete(source);
    for (const [market, quote] of this.#quotes) {
      if (quote.source === source) this.#quotes.delete(market);
    }
    this.#levels.forget(source);
  }
}

const OUTCOMES = ['yes', 'no', 'void', 'scalar'] as const satisfies MarketOutcome[];
const RESULTS_MIN = 64;

/** The first result of each market as columns, since a server keeps those of all its markets. */
class ResultRows {
  readonly #has = new NumberSet();
  #count = 0;
  #markets = new Uint32Array(RESULTS_MIN);
  #sources = new Uint32Array(RESULTS_MIN);
  #atMs = new Float64Array(RESULTS_MIN);
  #outcomes = new Uint8Array(RESULTS_MIN);
  #yesCents = new Uint8Array(RESULTS_MIN);
  #noCents = new Uint8Array(RESULTS_MIN);

  get count(): number {
    return this.#count;
  }

  has(market: MarketNumber): boolean {
    return this.#has.has(market);
  }

  /** The first result of its market. */
  add({ market, source, atMs, outcome, yesPayoutCents, noPayoutCents }: ResultTick): void {
    invariant(!this.#has.has(market), 'a market has two first results');
    this.#has.add(market);
    const row = this.#count++;
    if (row === this.#markets.length) this.#grow();
    this.#markets[row] = market;
    this.#sources[row] = source;
    this.#atMs[row] = atMs;
    this.#outcomes[row] = OUTCOMES.indexOf(outcome);
    this.#yesCents[row] = yesPayoutCents;
    this.#noCents[row] = noPayoutCents;
  }

  /** By the order of arrival. */
  tick(row: number): ResultTick {
    return {
      kind: 'result',
      atMs: this.#atMs[row]!,
      source: this.#sources[row]!,
      market: this.#markets[row]!,
      outcome: OUTCOMES[this.#outcomes[row]!]!,
      yesPayoutCents: this.#yesCents[row]!,
      noPayoutCents: this.#noCents[row]!,
    };
  }

  setBack(byMs: number): void {
    for (let row = 0; row < this.#count; row++) this.#atMs[row]! -= byMs;
  }

  #grow(): void {
    const rows = this.#count * 2;
    this.#markets = grown(this.#markets, new Uint32Array(rows));
    this.#sources = grown(this.#sources, new Uint32Array(rows));
    this.#atMs = grown(this.#atMs, new Float64Array(rows));
    this.#outcomes = grown(this.#outcomes, new Uint8Array(rows));
    this.#yesCents = grown(this.#yesCents, new Uint8Array(rows));
    this.#noCents = grown(this.#noCents, new Uint8Array(rows));
  }
}

function grown<Rows extends { set(rows: Rows): void }>(rows: Rows, into: Rows): Rows {
  into.set(rows);
  return into;
}

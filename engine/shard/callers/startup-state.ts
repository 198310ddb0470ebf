/**
 * The messages for a shard whose thread starts again, or whose disk has space again. Rule D11
 * (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { EpochMs, MarketNumber, SourceNumber, StreamConnection } from '../../base/units.ts';
import type { Message } from '../../format/codec.ts';
import { outdatedStatuses } from '../../rules/catalog.ts';
import type { Catalog } from '../../rules/catalog-entries.ts';
import type { FeeEntry } from '../../rules/fees.ts';
import type {
  ClosingTick,
  GameTick,
  HeartbeatTick,
  QuoteTick,
  ResultTick,
  SetSwitches,
  SettleMarket,
  StatusTick,
  Tick,
} from '../../rules/messages.ts';
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
  readonly #finals = new Map<string, ResultTick | GameTick>();
  /** The last correction of a market, after all that is final. Rule S25 (engine/RULES.md). */
  readonly #corrections = new Map<MarketNumber, SettleMarket>();
  readonly #listedGames = new Set<string>();
  #wasSetBack = false;

  setCatalog(catalog: Catalog): void {
    const numbered = this.#catalog?.marketNames.length ?? 0;
    invariant(catalog.marketNames.length >= numbered, 'a catalog removes markets');
    const outdated = outdatedStatuses(this.#catalog?.games ?? [], catalog.games);
    for (const slug of outdated) this.#finals.delete(gameKey(slug));
    for (const { slug } of catalog.games) this.#listedGames.add(slug);
    this.#catalog = catalog;
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
    const all = [this.#statuses, this.#closings, this.#heartbeats, this.#finals];
    for (const kept of all as Map<unknown, Tick>[]) {
      for (const [key, tick] of kept) kept.set(key, earlier(tick));
    }
    for (const quote of this.#quotes.values()) quote.setBack(byMs);
    this.#levels.setBack(byMs);
    if (this.#switches !== null) {
      this.#switches = { ...this.#switches, atMs: this.#switches.atMs - byMs };
    }
  }

  messages(atMs: EpochMs): Message[] {
    const messages: Message[] = [];
    // Sent first, because the shard may have failed before it took it.
    if (this.#wasSetBack) messages.push({ kind: 'clock', atMs, toMs: atMs });
    // Nothing may fill an order whose connection is gone.
    messages.push({ kind: 'connected', atMs, connections: [...this.connections] });
    if (this.#catalog !== null) messages.push({ kind: 'catalog', atMs, catalog: this.#catalog });
    if (this.#fees !== null) messages.push({ kind: 'fees', atMs, lines: this.#fees });
    if (this.#switches !== null) messages.push(this.#switches);
    messages.push(...this.#finals.values());
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
    const key = `market ${tick.market}`;
    if (!this.#finals.has(key)) this.#finals.set(key, tick);
  }

  /** A repeated status keeps its place; a changed status moves to the end. */
  #keepGame(tick: GameTick): void {
    const key = gameKey(tick.game);
    const known = this.#finals.get(key);
    if (known?.kind === 'game' && known.status === tick.status) return;
    this.#finals.delete(key);
    this.#finals.set(key, tick);
  }

  #forgetQuotesOf(source: SourceNumber): void {
    this.#heartbeats.delete(source);
    for (const [market, quote] of this.#quotes) {
      if (quote.source === source) this.#quotes.delete(market);
    }
    this.#levels.forget(source);
  }
}

const gameKey = (slug: string) => `game ${slug}`;

/** The real core under the HTTP layer, without threads and disk: its refusals are its own. */

import type {
  AccountRequest,
  AuditReport,
  Engine,
  EngineState,
  OrderConnections,
} from '../../api/base/engine.ts';
import type { TradeUses } from '../../engine/rules/decision.ts';
import type {
  Reply,
  SetSwitches,
  TagTrade,
  Tick,
  TradingCommand,
} from '../../engine/rules/messages.ts';
import type {
  BidsQuery,
  PreviewQuery,
  Query,
  QuoteChangesQuery,
  QuoteKind,
} from '../../engine/rules/queries.ts';
import type { ReplyHandler } from '../../engine/shard/callers/send-queue.ts';
import { isCommand } from '../../engine/shard/core/message-kinds.ts';
import { tradeUseOf } from '../../engine/shard/core/trade-use.ts';
import type { Unavailable } from '../../engine/threads/unavailable.ts';
import { CATALOG, NOON_MS, quoteTick } from '../engine/fixtures.ts';
import { createMemoryEngine, type MemoryEngine } from '../engine/memory-engine.ts';

export class CoreEngine implements Engine {
  /** Thrown in place of any answer. */
  fault: Error | null = null;
  /** Why it takes no request at all; null: it takes them. */
  refused: Unavailable | null = null;
  #core: MemoryEngine = newCore();

  /** No account has traded, and market 0 has a live price. */
  reset(): void {
    this.#core = newCore();
  }

  tick(tick: Tick): void {
    this.#core.tick(tick);
  }

  ask(_account: string, request: TradingCommand | Query, waiter: ReplyHandler): undefined {
    this.#answer(request).then(
      (reply) => waiter.resolve(reply),
      (error: Error) => waiter.reject(error),
    );
  }

  async corrected(): Promise<(string | null)[]> {
    const reply = await this.#answer({ kind: 'corrected_markets', atMs: NOON_MS });
    return [reply.ok ? reply.body : null];
  }

  trade(_owner: string, command: TradingCommand, waiter: ReplyHandler): undefined {
    this.ask(command.account, command, waiter);
  }

  preview(_owner: string, query: PreviewQuery, waiter: ReplyHandler): undefined {
    this.ask(query.order.account, query, waiter);
  }

  readonly connections: OrderConnections = {
    opened: () => {},
    ended: (connection, accounts) => {
      for (const account of accounts) {
        this.#core.command({ kind: 'disconnected', atMs: NOON_MS, account, connection });
      }
    },
  };

  refusal(): Unavailable | null {
    return this.refused;
  }

  coalesce<T>(_question: string, find: () => Promise<T>, waiter: ReplyHandler<T>): undefined {
    find().then(
      (found) => waiter.resolve(found),
      (error: unknown) => waiter.reject(error as Error),
    );
  }

  quote(instrumentId: string, atMs: number, kind: QuoteKind = 'instrument_quote'): Promise<Reply> {
    return this.#answer({ kind, instrumentId, atMs });
  }

  askAny(query: QuoteChangesQuery | BidsQuery): Promise<Reply> {
    return this.#answer(query);
  }

  tradeUse(owner: string, keyId: string): Promise<TradeUses> {
    const shard = { call: (request: TradingCommand | Query) => this.#answer(request) };
    return tradeUseOf([shard], shard, { owner, keyId, atMs: NOON_MS });
  }

  priced(instruments: readonly number[] | null, atMs: number): Promise<Reply> {
    return this.#answer({ kind: 'priced', instruments, atMs });
  }

  async call(_account: string, request: AccountRequest): Promise<Reply> {
    return this.#answer(request);
  }

  async tagTrade(command: TagTrade): Promise<Reply> {
    return this.#core.command(command);
  }

  async #answer(request: TradingCommand | AccountRequest | Query): Promise<Reply> {
    if (this.fault !== null) throw this.fault;
    return isCommand(request) ? this.#core.command(request) : this.#core.query(request);
  }

  async broadcast(switches: SetSwitches): Promise<void> {
    this.#core.command(switches);
  }

  async audit(): Promise<AuditReport> {
    throw new Error('not asked for here');
  }

  nowMs(): number {
    return NOON_MS;
  }

  machineMs(): number {
    return NOON_MS;
  }

  clockProblem(): string | null {
    return null;
  }

  async acceptMachineTime(): Promise<void> {
    throw new Error('not asked for here');
  }

  state(): EngineState {
    return 'ready';
  }

  problems(): string[] {
    return [];
  }

  statuses(): never[] {
    return [];
  }
}

function newCore(): MemoryEngine {
  const core = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  core.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  core.tick(quoteTick());
  return core;
}

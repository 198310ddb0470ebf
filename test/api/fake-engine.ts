/**
 * The engine without threads and disk, in one object that records its calls. A test replaces the
 * replies that it is about; the engine answers all others.
 */

import type {
  AccountRequest,
  AuditReport,
  Engine,
  EngineState,
  OrderConnections,
} from '../../api/base/engine.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import type { TradeUses } from '../../engine/rules/decision.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import type {
  Reply,
  ResultTick,
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
import { REJECTIONS } from '../../engine/rules/rejections.ts';
import type { ReplyHandler } from '../../engine/shard/callers/send-queue.ts';
import type { ShardStatus } from '../../engine/shard/callers/shard-status.ts';
import { isCommand } from '../../engine/shard/core/message-kinds.ts';
import { tradeUseOf } from '../../engine/shard/core/trade-use.ts';
import type { Unavailable } from '../../engine/threads/unavailable.ts';
import { quoteTick } from '../engine/fixtures.ts';
import { createMemoryEngine, type MemoryEngine } from '../engine/memory-engine.ts';
import * as samples from './samples.ts';

export type EngineRequest = TradingCommand | Query;

/** Every market of the catalog has a live price of it, 40 to 43. */
export class FakeEngine implements Engine {
  readonly #core: MemoryEngine;
  readonly requests: EngineRequest[] = [];
  readonly accounts: string[] = [];
  /** Of the keys that traded. */
  readonly owners: string[] = [];
  readonly quoted: string[] = [];
  readonly broadcasts: SetSwitches[] = [];
  currentState: EngineState = 'ready';
  currentProblems: string[] = [];
  currentStatuses: ShardStatus[] = [];
  reply: (request: EngineRequest) => Promise<Reply> = async (request) => this.#answer(request);
  replyQuote: (instrumentId: string, kind: QuoteKind) => Promise<Reply> = async (
    instrumentId,
    kind,
  ) => this.#answer({ kind, atMs: samples.NOW_MS, instrumentId });
  report: AuditReport = {
    accounts: 2,
    restingOrders: 1,
    openPositions: 1,
    problems: [],
    following: [],
  };

  busy: Unavailable | null = null;

  constructor(catalog: Catalog = samples.sampleCatalog()) {
    this.#core = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
    const atMs = samples.NOW_MS;
    this.#core.command({ kind: 'catalog', atMs, catalog });
    this.#core.command({ kind: 'switches', atMs, venueData: true, selfReset: false });
    for (const market of catalog.marketNames.keys()) {
      this.#core.tick(quoteTick({ atMs, market }));
    }
  }

  async held(): Promise<(string | null)[]> {
    return [];
  }

  async corrected(): Promise<(string | null)[]> {
    const reply = this.#core.query({ kind: 'corrected_markets', atMs: samples.NOW_MS });
    return [reply.ok ? reply.body : null];
  }

  #answer(request: EngineRequest): Reply {
    return isCommand(request) ? this.#core.command(request) : this.#core.query(request);
  }

  /** Of the stream, that orders end with. */
  readonly openConnections = new Set<number>();
  readonly connections: OrderConnections = {
    opened: (connection) => void this.openConnections.add(connection),
    ended: (connection, accounts) => {
      this.openConnections.delete(connection);
      for (const account of accounts) {
        this.#core.command({ kind: 'disconnected', atMs: samples.NOW_MS, account, connection });
      }
    },
  };

  refusal(): Unavailable | null {
    return this.busy;
  }

  trade(owner: string, command: TradingCommand, waiter: ReplyHandler): undefined {
    this.owners.push(owner);
    this.ask(command.account, command, waiter);
  }

  ask(account: string, request: EngineRequest, waiter: ReplyHandler): undefined {
    this.accounts.push(account);
    this.requests.push(request);
    this.reply(request).then(
      (reply) => waiter.resolve(reply),
      (error: Error) => waiter.reject(error),
    );
  }

  preview(_owner: string, query: PreviewQuery, waiter: ReplyHandler): undefined {
    this.ask(query.order.account, query, waiter);
  }

  coalesce<T>(_question: string, find: () => Promise<T>, waiter: ReplyHandler<T>): undefined {
    find().then(
      (found) => waiter.resolve(found),
      (error: unknown) => waiter.reject(error as Error),
    );
  }

  quote(instrumentId: string, _atMs: number, kind: QuoteKind = 'instrument_quote'): Promise<Reply> {
    this.quoted.push(instrumentId);
    return this.replyQuote(instrumentId, kind);
  }

  async tradeUse(owner: string, keyId: string): Promise<TradeUses> {
    if (this.busy !== null) throw this.busy;
    const shard = { call: async (request: EngineRequest) => this.#answer(request) };
    return tradeUseOf([shard], shard, { owner, keyId, atMs: samples.NOW_MS });
  }

  async priced(instruments: readonly number[] | null, atMs: number): Promise<Reply> {
    if (this.busy !== null) throw this.busy;
    return this.#core.query({ kind: 'priced', atMs, instruments });
  }

  async call(_account: string, request: AccountRequest): Promise<Reply> {
    if (this.busy !== null) throw this.busy;
    return isCommand(request) ? this.#core.command(request) : this.#core.query(request);
  }

  async tagTrade(command: TagTrade): Promise<Reply> {
    return this.#core.command(command);
  }

  #corrections = 0;

  async settle(
    { source: _, ...result }: ResultTick,
    { isCorrection } = { isCorrection: false },
  ): Promise<Reply> {
    const correction = isCorrection ? ++this.#corrections : null;
    return this.#core.command({ ...result, kind: 'settle', correction });
  }

  async settleLed({ source: _, ...result }: ResultTick, correction: number | null): Promise<Reply> {
    return this.#core.command({ ...result, kind: 'settle', correction });
  }

  /** How often it was asked which quotes have changed. */
  changesAsked = 0;

  async askAny(query: QuoteChangesQuery | BidsQuery): Promise<Reply> {
    if (query.kind === 'quote_changes') this.changesAsked++;
    return this.#answer(query);
  }

  tick(tick: Tick): void {
    this.#core.tick(tick);
  }

  packedTicks(_bytes: Uint8Array, _newestMs: number, ticks: readonly Tick[] | null = null): void {
    for (const tick of ticks ?? []) this.tick(tick);
  }

  async setCatalog(catalog: Catalog): Promise<void> {
    this.#core.command({ kind: 'catalog', atMs: samples.NOW_MS, catalog });
  }

  async setFees(lines: readonly FeeEntry[]): Promise<void> {
    this.#core.command({ kind: 'fees', atMs: samples.NOW_MS, lines });
  }

  async drained(): Promise<void> {}

  async broadcast(command: SetSwitches): Promise<void> {
    this.broadcasts.push(command);
    this.#core.command(command);
  }

  async audit(): Promise<AuditReport> {
    return this.report;
  }

  nowMs(): number {
    return samples.NOW_MS;
  }

  machineNowMs = samples.NOW_MS;

  machineMs(): number {
    return this.machineNowMs;
  }

  clockProblem(): string | null {
    return null;
  }

  accepted = 0;

  async acceptMachineTime(): Promise<void> {
    if (this.busy !== null) throw this.busy;
    this.accepted++;
  }

  state(): EngineState {
    return this.currentState;
  }

  problems(): string[] {
    return this.currentProblems;
  }

  statuses(): ShardStatus[] {
    return this.currentStatuses;
  }
}

export function ok(body: unknown): Reply {
  return { ok: true, body: JSON.stringify(body) };
}

/** For a test of the API's handling of an answer, whatever the answer is. */
export function sampleReply(request: EngineRequest): Reply {
  switch (request.kind) {
    case 'place':
      if (!request.mayTrade) {
        return { ok: false, code: 'trading_off', message: REJECTIONS.trading_off };
      }
      return ok({ ...samples.samplePlacement, idempotencyKey: request.idempotencyKey });
    case 'cancel_all':
      return ok({ canceled: [], count: 0, mode: 'paper' });
    case 'cancel':
    case 'amend':
    case 'order':
      return ok(samples.sampleOrderAnswer);
    case 'orders':
      return ok(samples.sampleOrders);
    case 'trades':
      return ok(samples.sampleTrades);
    case 'portfolio':
      return ok(samples.samplePortfolio);
    default:
      throw new Error(`the API asked the engine for ${request.kind}`);
  }
}

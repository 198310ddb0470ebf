/** An engine that is one object: answers samples, writes down what it was asked. */
import type { AuditReport, Engine, EngineState } from '../../api/engine.ts';
import type {
  CancelOrder,
  PlaceOrder,
  Query,
  Reply,
  SetSwitches,
} from '../../engine/rules/messages.ts';
import { REJECTIONS } from '../../engine/rules/rejections.ts';
import type { EngineBusy } from '../../engine/shard/busy.ts';
import type { Waiter } from '../../engine/shard/outbox.ts';
import * as samples from './samples.ts';

export type EngineRequest = PlaceOrder | CancelOrder | Query;

/** A test replaces the parts it is about. */
export class FakeEngine implements Engine {
  readonly requests: EngineRequest[] = [];
  readonly accounts: string[] = [];
  /** Of the keys that traded. */
  readonly owners: string[] = [];
  readonly quoted: string[] = [];
  readonly broadcasts: SetSwitches[] = [];
  currentState: EngineState = 'ready';
  currentTroubles: string[] = [];
  reply: (request: EngineRequest) => Promise<Reply> = async (request) => sampleReply(request);
  replyQuote: (instrumentId: string) => Promise<Reply> = async (id) => {
    const known = Object.values(samples.IDS).includes(id);
    if (!known) return { ok: false, code: 'instrument_not_found', message: 'No such instrument.' };
    return ok(samples.sampleQuote(id, id === samples.IDS.lions));
  };
  report: AuditReport = { accounts: 2, restingOrders: 1, openPositions: 1, problems: [] };

  busy: EngineBusy | null = null;

  refusal(): EngineBusy | null {
    return this.busy;
  }

  trade(owner: string, command: PlaceOrder | CancelOrder, waiter: Waiter): undefined {
    this.owners.push(owner);
    this.ask(command.account, command, waiter);
  }

  ask(account: string, request: EngineRequest, waiter: Waiter): undefined {
    this.accounts.push(account);
    this.requests.push(request);
    this.reply(request).then(
      (reply) => waiter.resolve(reply),
      (error: Error) => waiter.reject(error),
    );
  }

  coalesce<T>(_question: string, find: () => Promise<T>, waiter: Waiter<T>): undefined {
    find().then(waiter.resolve, waiter.reject);
  }

  quote(instrumentId: string): Promise<Reply> {
    this.quoted.push(instrumentId);
    return this.replyQuote(instrumentId);
  }

  async broadcast(command: SetSwitches): Promise<void> {
    this.broadcasts.push(command);
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

  accepted = 0;

  async acceptMachineTime(): Promise<void> {
    if (this.busy !== null) throw this.busy;
    this.accepted++;
  }

  state(): EngineState {
    return this.currentState;
  }

  troubles(): string[] {
    return this.currentTroubles;
  }
}

export function ok(body: unknown): Reply {
  return { ok: true, body: JSON.stringify(body) };
}

function sampleReply(request: EngineRequest): Reply {
  switch (request.kind) {
    case 'place':
      if (!request.mayTrade) {
        return { ok: false, code: 'trading_off', message: REJECTIONS.trading_off };
      }
      return ok({ ...samples.samplePlacement, idempotencyKey: request.idempotencyKey });
    case 'cancel':
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

/**
 * The results of markets in a cluster. The control log has each result first, and the first one
 * counts. Every node gives it to the shards that it leads, and to all who follow results. So shards
 * that different nodes lead cannot settle one market by different results. Rules N139 to N145
 * (engine/RULES.md).
 *
 *   venue, game: say ─────┬─ this node leads the control log ─ put ─┐
 *                         └─ another one: etcd ─ heard there ─ put ─┼─ deliver: shards, bus
 *   operator: settle ─── this node leads, or 503 `not_leader` ─ put ─┘
 */

import type { MarketNumber } from '../../engine/base/units.ts';
import { isSameResult } from '../../engine/rules/corrections.ts';
import type { Reply, ResultTick, Settled, StatusTick } from '../../engine/rules/messages.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import type { OpenReport } from '../../engine/shard/store/open-report.ts';
import type { Log } from '../base/logger.ts';
import type { MarketBus } from '../catalog/market-bus.ts';
import type { FinalResult } from '../identity/control-tables.ts';
import { type ControlStore, marketOfKey } from '../identity/store.ts';
import { OPERATOR_SOURCE } from './operator-results.ts';

export type ResultStore = Pick<
  ControlStore,
  | 'isReplicated'
  | 'refusal'
  | 'result'
  | 'results'
  | 'putResult'
  | 'everywhere'
  | 'say'
  | 'onWord'
  | 'onFollowed'
>;
export type ResultEngine = Pick<Shards, 'tick' | 'settleLed' | 'nowMs'>;

export type ClusterResultsParts = {
  identity: ResultStore;
  engine: ResultEngine;
  bus: Pick<MarketBus, 'publish' | 'subscribe'>;
  log: Pick<Log, 'error'>;
};

/** What has no result of the cluster yet is said again after so long. */
const AGAIN_EVERY_MS = 500;
/** A record of the control log has so many of them at most. */
const PUTS_AT_ONCE = 256;

export class ClusterResults {
  readonly #parts: ClusterResultsParts;
  /** What a venue or a game says here of markets without a result. */
  readonly #said = new Map<MarketNumber, ResultTick>();
  /** Of those markets, the last word after the first one. */
  readonly #saidLater = new Map<MarketNumber, ResultTick>();
  /** Of the shards and followers here: how often each market was corrected; 0: it has its first result. */
  readonly #delivered = new Map<MarketNumber, number>();
  /** Results of markets that no catalog here has listed yet. */
  readonly #early = new Set<MarketNumber>();
  /** The engine has so many markets. */
  #markets = 0;
  #isStarted = false;
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  /** Operators' results are taken one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: ClusterResultsParts) {
    this.#parts = parts;
    const { identity, bus } = parts;
    identity.onFollowed('results', async (keys) => {
      if (keys.length === 0) this.#sayAll();
      for (const key of keys) await this.#take(marketOfKey(key));
    });
    identity.onWord((name, word) => this.#heard(marketOfKey(name), word));
    this.#unsubscribe = bus.subscribe(['catalog'], ({ catalog }) => {
      this.#markets = catalog.marketNames.length;
      const early = [...this.#early];
      this.#early.clear();
      if (this.#isStarted) for (const market of early) void this.#take(market);
    });
    this.#timer = setInterval(() => this.#sayAll(), AGAIN_EVERY_MS);
    this.#timer.unref();
  }

  /** The results that the cluster had when this was made, and later ones. */
  rows(): Generator<FinalResult> {
    return this.#parts.identity.results();
  }

  /**
   * Gives the shards what they may lack. Called once the engine has the catalog. `reports`: of the
   * shards that this node leads. A directory may have results from before it was of a cluster.
   */
  async start(reports: readonly (OpenReport | null)[]): Promise<void> {
    const { identity, engine } = this.#parts;
    const has = ({ market, correction }: FinalResult) =>
      reports.every((report) => {
        const isThere = report?.results[market] != null;
        return isThere && (report.corrections[market] ?? 0) >= correction;
      });
    await this.#putEarlier(reports);
    for (const row of identity.results()) {
      const { market, correction } = row;
      if (market >= this.#markets) {
        this.#early.add(market);
        continue;
      }
      this.#delivered.set(market, correction);
      if (has(row)) continue;
      const tick = this.#tickOf(row);
      engine.tick(tick);
      if (correction > 0) void this.#correct(tick, correction);
    }
    this.#isStarted = true;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unsubscribe();
  }

  /** A venue or a game says so. Of a market with a result, it only goes to those who compare it. */
  say(tick: ResultTick): void {
    const { market } = tick;
    if (this.#delivered.has(market)) return this.#compare(tick);
    if (this.#said.has(market)) {
      this.#saidLater.set(market, tick);
      return;
    }
    this.#said.set(market, tick);
    this.#close(tick);
    this.#sayOne(tick);
  }

  /** Whether it has been said how the market ends, and the log has no result of it yet. */
  isSaid(market: MarketNumber): boolean {
    return this.#said.has(market);
  }

  /**
   * An operator's result, in the control log of the cluster and in every shard that some node leads, on
   * return. Throws `NotLeader` where another node leads the control log, and `Unavailable`.
   */
  settle(tick: ResultTick, options: { isCorrection: boolean }): Promise<Reply> {
    const settled = this.#turn.then(() => this.#settle(tick, options));
    this.#turn = settled.catch(() => undefined);
    return settled;
  }

  async #settle(tick: ResultTick, { isCorrection }: { isCorrection: boolean }): Promise<Reply> {
    const { identity } = this.#parts;
    const refusal = identity.refusal();
    if (refusal !== null) throw refusal;
    const { market } = tick;
    const has = identity.result(market);
    if (has === undefined && isCorrection) return refused('invalid_request', NOTHING_TO_CORRECT);
    if (has !== undefined && isSameResult(has, tick)) {
      // It may have been given before, without an answer.
      await identity.everywhere();
      return { ok: true, body: JSON.stringify(HAD_ITS_RESULT) };
    }
    if (has !== undefined && !isCorrection) return refused('market_resolved', HAS_ANOTHER);
    const correction = has === undefined ? 0 : has.correction + 1;
    await identity.putResult(rowOf(tick, 'operator', correction));
    const reply = await this.#take(market);
    await identity.everywhere();
    if (reply?.ok === false) return reply;
    const settled = reply === null ? HAD_ITS_RESULT : (JSON.parse(reply.body) as Settled);
    return { ok: true, body: JSON.stringify({ ...settled, isNew: true }) };
  }

  /** No order trades by a known result while the log may take its time. */
  #close({ market }: ResultTick): void {
    const { engine, bus } = this.#parts;
    const of = { market, atMs: engine.nowMs(), source: OPERATOR_SOURCE };
    const closed: StatusTick = { kind: 'status', ...of, status: 'closed' };
    engine.tick(closed);
    bus.publish(closed);
  }

  #sayAll(): void {
    for (const tick of this.#said.values()) this.#sayOne(tick);
  }

  #sayOne(tick: ResultTick): void {
    const { identity } = this.#parts;
    const row = rowOf(tick, 'venue', 0);
    if (identity.refusal() !== null) void identity.say(String(tick.market), JSON.stringify(row));
    // It is said again.
    else void this.#put(row).catch(() => undefined);
  }

  async #heard(market: MarketNumber, word: string): Promise<void> {
    const { outcome, yesPayoutCents, noPayoutCents, atMs } = JSON.parse(word) as FinalResult;
    const result = { outcome, yesPayoutCents, noPayoutCents };
    await this.#put({ ...result, market, atMs, by: 'venue', correction: 0 });
  }

  /** The first result of a market, unless it has one. Rejects if the cluster refuses it. */
  async #put(row: FinalResult): Promise<void> {
    const { identity } = this.#parts;
    if (identity.result(row.market) !== undefined) return;
    await identity.putResult(row);
    await this.#take(row.market);
  }

  /** What the shards had before there was a cluster. */
  async #putEarlier(reports: readonly (OpenReport | null)[]): Promise<void> {
    const { identity, engine } = this.#parts;
    const found = new Map<MarketNumber, FinalResult>();
    for (const report of reports) {
      for (const [number, result] of (report?.results ?? []).entries()) {
        if (result === null || found.has(number)) continue;
        if (identity.result(number) !== undefined) continue;
        const correction = report?.corrections[number] ?? 0;
        const row = { ...result, market: number, atMs: engine.nowMs(), correction };
        found.set(number, { ...row, by: 'venue' });
      }
    }
    const rows = [...found.values()];
    while (rows.length > 0 && identity.refusal() === null) {
      const some = rows.splice(0, PUTS_AT_ONCE).map((row) => identity.putResult(row));
      // Who leads next has the same shards, and puts them.
      await Promise.allSettled(some);
    }
  }

  /** The result that the cluster has goes to shards and followers here. @returns a command's reply */
  async #take(market: MarketNumber): Promise<Reply | null> {
    const row = this.#parts.identity.result(market);
    const before = this.#delivered.get(market);
    // `start` reads all rows. A change came to nothing.
    if (!this.#isStarted || row === undefined) return null;
    const { correction, by } = row;
    if (before !== undefined && before >= correction) return null;
    if (market >= this.#markets) {
      this.#early.add(market);
      return null;
    }
    this.#delivered.set(market, correction);
    const { engine, bus } = this.#parts;
    const tick = this.#tickOf(row);
    if (before === undefined && (by === 'venue' || correction > 0)) engine.tick(tick);
    let reply: Reply | null = null;
    if (correction > 0) reply = await this.#correct(tick, correction);
    else if (by === 'operator') reply = await engine.settleLed(tick, null);
    bus.publish(tick);
    for (const words of [this.#said, this.#saidLater]) {
      const said = words.get(market);
      words.delete(market);
      if (said !== undefined) this.#compare(said);
    }
    return reply;
  }

  /** The market has its result. A game that would have voided it says nothing then (S19). */
  #compare(tick: ResultTick): void {
    if (tick.source !== OPERATOR_SOURCE) this.#parts.bus.publish(tick);
  }

  async #correct(tick: ResultTick, correction: number): Promise<Reply> {
    const { engine, log } = this.#parts;
    const reply = await engine.settleLed(tick, correction);
    if (!reply.ok) {
      log.error({ market: tick.market, why: reply.message }, 'a shard refuses a correction');
    }
    return reply;
  }

  /** Its time is another node's, whose clock may be ahead. */
  #tickOf({ market, outcome, yesPayoutCents, noPayoutCents, atMs }: FinalResult): ResultTick {
    return {
      ...{ kind: 'result', market, outcome, yesPayoutCents, noPayoutCents },
      ...{ atMs: Math.min(atMs, this.#parts.engine.nowMs()), source: OPERATOR_SOURCE },
    };
  }
}

const HAD_ITS_RESULT: Settled = {
  isNew: false,
  ...{ settledTrades: 0, correctedTrades: 0, canceledOrders: 0 },
};
const NOTHING_TO_CORRECT = 'correct: the market has no result yet.';
const HAS_ANOTHER = 'The market has another result already.';

function refused(code: 'invalid_request' | 'market_resolved', message: string): Reply {
  return { ok: false, code, message };
}

function rowOf(
  { market, atMs, outcome, yesPayoutCents, noPayoutCents }: ResultTick,
  by: FinalResult['by'],
  correction: number,
): FinalResult {
  return { ...{ market, atMs, outcome, yesPayoutCents, noPayoutCents }, by, correction };
}

/** The fast core on a log in memory, which the model is compared with. */

import { audit } from '../../engine/audit/audit.ts';
import { digest } from '../../engine/audit/digest.ts';
import { NO_ROW, type Uuid } from '../../engine/base/units.ts';
import { FactBuffer } from '../../engine/format/facts.ts';
import { JsonWriter } from '../../engine/format/json-writer.ts';
import { type IndexHead, RecordIndex } from '../../engine/index/record-index.ts';
import { liquidityMemory, MarketLiquidity } from '../../engine/memory/market-liquidity.ts';
import { CHECKPOINTS_KEPT } from '../../engine/memory/row-changes.ts';
import { pageWordsOf, ROW_WORDS_MAX } from '../../engine/memory/row-pages.ts';
import { applyTick } from '../../engine/rules/apply-tick.ts';
import type { Event } from '../../engine/rules/events.ts';
import type { FactSink } from '../../engine/rules/fact-sink.ts';
import { FIRST_PAYOUT_ROOM_CENTS, payoutRoomCents } from '../../engine/rules/ledger.ts';
import type { TradeLimitsLeft } from '../../engine/rules/limits-left.ts';
import type { Refusal, Reply } from '../../engine/rules/messages.ts';
import type { Query } from '../../engine/rules/queries.ts';
import type { CoreConfig } from '../../engine/rules/reference-data.ts';
import { settleBeforeAnswer } from '../../engine/rules/settle-before-answer.ts';
import { continueSettlements } from '../../engine/rules/settle-markets.ts';
import type { ShardState } from '../../engine/rules/state.ts';
import { tablesOf } from '../../engine/rules/state.ts';
import { createState, type StoredState } from '../../engine/shard/core/create-state.ts';
import { answerQuery, execute } from '../../engine/shard/core/requests.ts';
import { type FactLog, ShardRecords } from '../../engine/shard/core/shard-records.ts';
import {
  headOf,
  loadHead,
  type ReferenceData,
  rebuildDerived,
  referenceDataOf,
  type StateHead,
} from '../../engine/shard/store/checkpoint-state.ts';
import { replayFacts } from '../../engine/shard/store/replay.ts';
import type { Ending, TradingEngine } from '../model/trading-engine.ts';
import { MemoryRunStore } from './index/memory-run-store.ts';

export interface MemoryEngine extends TradingEngine {
  state(): StoredState;
  /** The facts of everything so far, a record for each tick and command that led to some. */
  records(): readonly MemoryRecord[];
  /** A new state that has folded all of them. */
  folded(): StoredState;
  /** Also the queries that look inside. */
  query(query: Query): Reply;
  /** Settles some trades of markets with results, as a shard does between batches. */
  settleSlice(): void;
  /** Writes a checkpoint's content to memory. */
  checkpoint(): void;
  /** Loses memory and recovers: the last checkpoint, then the log, then the same quotes. */
  crash(): void;
}

function replyOf(answer: (to: JsonWriter) => Refusal | null): Reply {
  const to = new JsonWriter();
  return answer(to) ?? { ok: true, body: to.bytes.copy().toString() };
}

/**
 * `settledAtOnce`: so many trades and orders of a result are settled with it, and in a slice.
 * `liquidity`: what it shares with other engines; left out: nothing.
 */
export function createMemoryEngine(
  config: CoreConfig,
  settledAtOnce = Number.POSITIVE_INFINITY,
  liquidity = new MarketLiquidity(liquidityMemory(1), 0),
): MemoryEngine {
  const log = new MemoryLog();
  const runs = new MemoryRunStore();
  const newState = () => {
    return createState(config, new ShardRecords(new RecordIndex(runs, SEED), log), liquidity);
  };
  let state = newState();
  liquidity.rejoin([]);
  const endings = createEndingLog();
  /** Carries something out, and keeps its facts. */
  const run = <T>(act: (facts: FactSink) => T): T => {
    state.pendingSettlements.left = settledAtOnce;
    const result = act(log.begin());
    endings.read(log.end());
    return result;
  };
  /** `covered`: the records from here on are not in the checkpoint. */
  let saved: { covered: number; head: Head; pages: Page[] } | null = null;
  /** The checkpoints whose pages count. */
  let checkpoints: { number: number; pages: Page[] }[] = [];
  return {
    state: () => state,
    records: () => log.records,
    folded() {
      const records = new ShardRecords(new RecordIndex(new MemoryRunStore(), SEED), log);
      const folded = createState(config, records);
      for (const record of log.records) playAgain(folded, record);
      return folded;
    },
    tick: (tick) => run((facts) => applyTick(state, tick, facts)),
    command: (command) =>
      run((facts) => {
        let limits: TradeLimitsLeft | null = null;
        const reply = replyOf((to) => {
          const executed = execute(state, command, facts, to);
          limits = executed.limits;
          return executed.refusal;
        });
        return limits === null ? reply : { ...reply, limits };
      }),
    query(query) {
      run((facts) => settleBeforeAnswer(state, query, facts));
      return replyOf((to) => answerQuery(state, query, to));
    },
    settleSlice: () => run((facts) => continueSettlements(state, facts)),
    conservation: () => audit(state).problems,
    endings: () => [...endings.all],
    digest: () => digest(state).accounts,
    roomCents(account) {
      const row = state.accountIds.find(account);
      return row === NO_ROW ? FIRST_PAYOUT_ROOM_CENTS : payoutRoomCents(state, row);
    },
    checkpoint() {
      const checkpoint = (checkpoints.at(-1)?.number ?? 0) + 1;
      const pages = tablesOf(state).map((table): Page => [table.name, rowsOf(table, checkpoint)]);
      checkpoints = [...checkpoints, { number: checkpoint, pages }].slice(-CHECKPOINTS_KEPT);
      const { index } = state.records;
      const seal = index.beginSeal();
      for (const _ of seal.write);
      runs.flush();
      saved = {
        covered: log.records.length,
        head: structuredClone({ ...headOf(state), ...referenceDataOf(state), index: seal.head }),
        pages: checkpoints.flatMap((of) => of.pages),
      };
      index.endSeal();
    },
    crash() {
      const before = state;
      // The same quotes (below) are sent again, with the sizes consumed of them.
      state = { ...newState(), fillModel: before.fillModel };
      // What decreases took from places is lost.
      const { queues } = state.fillModel;
      for (const source of before.sources.keys()) queues?.levels.forget(source, before.nowMs);
      if (saved !== null) {
        loadHead(state, saved.head);
        state.records.index.load(saved.head.index);
        for (const table of tablesOf(state)) {
          for (const [name, rows] of saved.pages) if (name === table.name) table.loadRows(rows);
          table.endLoad();
        }
        rebuildDerived(state);
      }
      for (const record of log.records.slice(saved?.covered ?? 0)) playAgain(state, record);
      quoteAgain(before, state);
    },
  };
}

type Page = [table: string, rows: Uint32Array];
type Head = StateHead & ReferenceData & { index: IndexHead };

/** Everything that a checkpoint takes of a table, as one page. */
export function rowsOf(
  table: Pick<ShardState['orders'], 'beginCheckpoint' | 'takeRows' | 'size'>,
  checkpoint: number,
): Uint32Array {
  table.beginCheckpoint(checkpoint);
  const page = new Uint32Array((table.size + 1) * pageWordsOf(ROW_WORDS_MAX));
  return page.subarray(0, table.takeRows(page, 0));
}

const SEED = Uint32Array.of(1, 2, 3, 4);

/** A record as a log would keep it; its place is its number. */
export type MemoryRecord = { place: number; firstNumber: number; payload: Uint8Array };

/** Applies a record that follows the state's last one. */
function playAgain(state: ShardState, { place, firstNumber, payload }: MemoryRecord): void {
  const facts = new FactBuffer();
  facts.begin(place, firstNumber);
  replayFacts(state, facts, payload);
}

class MemoryLog implements FactLog {
  readonly records: MemoryRecord[] = [];
  readonly #facts = new FactBuffer();
  #events: Event[] = [];
  #nextNumber = 1;

  payload(record: number): Uint8Array {
    return this.records[record]?.payload ?? this.#facts.payload();
  }

  *recordsFrom(from: number): Generator<{ position: number; payload: Uint8Array }> {
    for (const { place, payload } of this.records.slice(from)) yield { position: place, payload };
    const { record: position, count } = this.#facts;
    if (count === 0 || position < this.records.length) return;
    yield { position, payload: Uint8Array.from(this.#facts.payload()) };
  }

  /** The sink of the next record's facts. */
  begin(): FactSink {
    const facts = this.#facts;
    const events: Event[] = [];
    this.#events = events;
    facts.begin(this.records.length, this.#nextNumber);
    return {
      record: facts.record,
      get offset() {
        return facts.offset;
      },
      add(state, event) {
        facts.add(state, event);
        events.push(event);
      },
    };
  }

  /** Keeps the record, if there is anything in it; its events. */
  end(): readonly Event[] {
    const { record: place, firstNumber, count } = this.#facts;
    if (count > 0) {
      this.records.push({ place, firstNumber, payload: Uint8Array.from(this.#facts.payload()) });
    }
    this.#nextNumber += count;
    return this.#events;
  }
}

/** How orders ended, from the events alone; an event names an order by the row it had. */
function createEndingLog(): { all: Ending[]; read(events: readonly Event[]): void } {
  const idOfRow = new Map<number, Uuid>();
  const all: Ending[] = [];
  return {
    all,
    read(events) {
      for (const event of events) {
        if (event.kind === 'order_placed') {
          idOfRow.set(event.order, event.orderId);
        } else if (event.kind === 'order_filled') {
          all.push({ orderId: idOfRow.get(event.order)!, status: 'executed', reason: null });
        } else if (event.kind === 'order_ended') {
          const { order, status, reason } = event;
          all.push({ orderId: idOfRow.get(order)!, status, reason });
        }
      }
    },
  };
}

/**
 * Data that is not in the log is sent again after a start: switches from the operator, the fee
 * table, quotes by feeds.
 */
function quoteAgain(before: ShardState, after: ShardState): void {
  after.switches = before.switches;
  after.fees = before.fees;
  after.nowMs = before.nowMs;
  after.sources.push(...before.sources);
  for (const market of after.markets) {
    if (market.isPast) continue;
    const { status, venueClosesAtMs, quote, lastTrade, lastTradeOf } =
      before.markets[market.number]!;
    Object.assign(market, { status, venueClosesAtMs, quote, lastTrade, lastTradeOf });
  }
}

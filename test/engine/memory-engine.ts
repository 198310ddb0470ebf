/** The fast core on an archive of Maps: what the model is compared with. */

import { audit } from '../../engine/audit/audit.ts';
import { IdempotencyFilter } from '../../engine/memory/idempotency-filter.ts';
import type { Event, OrderOutcome } from '../../engine/rules/events.ts';
import { evolve } from '../../engine/rules/evolve.ts';
import type { Command, Reply, Tick } from '../../engine/rules/messages.ts';
import { observe } from '../../engine/rules/observe.ts';
import type { Query } from '../../engine/rules/queries.ts';
import type { CoreConfig } from '../../engine/rules/reference-data.ts';
import type { ShardState } from '../../engine/rules/state.ts';
import { tablesOf } from '../../engine/rules/state.ts';
import type { Uuid } from '../../engine/rules/units.ts';
import {
  headOf,
  loadHead,
  rebuildDerived,
  referenceDataOf,
} from '../../engine/shard/checkpoint-state.ts';
import { createState, type StoredState } from '../../engine/shard/create-state.ts';
import { answerQuery, execute } from '../../engine/shard/requests.ts';
import {
  type Archive,
  newestFirst,
  UnarchivedRecords,
} from '../../engine/shard/unarchived-records.ts';

export type MemoryEngine = {
  state(): StoredState;
  tick(tick: Tick): void;
  command(command: Command): Reply;
  query(query: Query): Reply;
  conservation(): string[];
  /** Writes what a checkpoint would, to memory. */
  checkpoint(): void;
  /** Loses memory and comes back: the last checkpoint, then the journal, then quotes as before. */
  crash(): void;
};

export function createMemoryEngine(config: CoreConfig): MemoryEngine {
  const disk = createDisk();
  let state = createState(config, disk.archive);
  let journal: Event[] = [];
  let saved: { head: unknown; pages: [string, number, Uint8Array][] } | null = null;
  const pages = new Map<string, [string, number, Uint8Array]>();
  return {
    state: () => state,
    tick: (tick) => observe(state, tick, journal),
    command: (command) => execute(state, command, journal),
    query: (query) => answerQuery(state, query),
    conservation: () => audit(state).problems,
    checkpoint() {
      for (const table of tablesOf(state)) {
        for (const page of table.beginCheckpoint()) {
          pages.set(`${table.name}/${page}`, [table.name, page, table.takePage(page)]);
        }
      }
      saved = {
        head: structuredClone({ ...headOf(state), ...referenceDataOf(state) }),
        pages: [...pages.values()],
      };
      disk.write(state.records.beginCheckpoint());
      state.records.endCheckpoint();
      journal = [];
    },
    crash() {
      const before = state;
      // Quotes come back as they were (below), and with them what was consumed of them.
      state = { ...createState(config, disk.archive), fillModel: before.fillModel };
      if (saved !== null) {
        loadHead(state, saved.head as never);
        for (const table of tablesOf(state)) {
          for (const [name, page, bytes] of saved.pages) {
            if (name === table.name) table.loadPage(page, bytes);
          }
        }
        rebuildDerived(state);
      }
      for (const event of journal) evolve(state, event);
      hearAgain(before, state);
    },
  };
}

/** What is not journaled comes again after a start: switches from the operator, quotes by feeds. */
function hearAgain(before: ShardState, after: ShardState): void {
  after.switches = before.switches;
  after.nowMs = before.nowMs;
  after.sources.push(...before.sources);
  for (const market of after.markets) {
    const { status, quote, lastTrade, lastTradeOf } = before.markets[market.number]!;
    Object.assign(market, { status, quote, lastTrade, lastTradeOf });
  }
}

function createDisk(): { archive: Archive; write(records: UnarchivedRecords): void } {
  const kept = new UnarchivedRecords(new IdempotencyFilter(0));
  const outcomes = new Map<Uuid, OrderOutcome>();
  const archive: Archive = {
    placementByKey: (account, key) => kept.placementByKey(account, key),
    placement: (account, orderId) => ofAccount(kept.placement(orderId), account),
    outcome: ({ orderId }) => outcomes.get(orderId),
    closedTrade: (account, tradeId) => ofAccount(kept.closedTrade(tradeId), account),
    placements: (account, before) =>
      newestFirst([...kept.limitOrdersOf(account)], [], before, (order) => order.orderId),
    closedTrades: (account, before) =>
      newestFirst([...kept.closedTradesOf(account)], [], before, (trade) => trade.tradeId),
    keyHashes: () => kept.orders.keyHashes(),
    newKeySeed: 0,
  };
  return {
    archive,
    write(records) {
      const { orders, closedTrades } = records;
      for (let row = 0; row < orders.log.size; row++) kept.addPlacement(orders.log.get(row));
      for (const { orderId, outcome } of records.outcomes.entries()) outcomes.set(orderId, outcome);
      for (let row = 0; row < closedTrades.size; row++) kept.addClosedTrade(closedTrades.get(row));
    },
  };
}

function ofAccount<T extends { account: number }>(row: T | undefined, account: number) {
  return row?.account === account ? row : undefined;
}

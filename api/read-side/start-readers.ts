/**
 * The readers that no trading waits for: past prices, the records of traders, and the events of
 * accounts, each read in a separate thread. Rules H20, J25, A95 (api/RULES.md), Z14
 * (engine/RULES.md).
 */
import { BacktestPool } from '../../engine/backtest/pool.ts';
import type { Uuid } from '../../engine/base/units.ts';
import { EquitySource } from '../../engine/equity/equity-source.ts';
import type { History } from '../../engine/history/history.ts';
import { AccountEventSource } from '../../engine/readers/account-event-source.ts';
import type { CleanupStack } from '../base/cleanup-stack.ts';
import type { Engine } from '../base/engine.ts';
import type { Log } from '../base/logger.ts';
import type { Config } from '../config/settings.ts';
import type { DataDir } from '../data-dir/data-dir.ts';
import type { ControlStore } from '../identity/store.ts';
import { historyDirectory } from '../market-data/record-history.ts';
import type { BacktestSource } from './backtest-source.ts';
import { createRecords } from './create-records.ts';
import { forwardedBacktest } from './forwarded-backtest.ts';
import { forwardedHistory } from './forwarded-history.ts';
import type { EmbeddedHistory, HistorySource } from './history-source.ts';
import { type RecordsSource, settledRecords } from './records-source.ts';
import { TrackRecordKeys } from './track-record-keys.ts';

export type ReaderParts = {
  config: Pick<Config, 'dataDir' | 'history' | 'historyService' | 'backtestUrl' | 'cluster'>;
  dataDir: Pick<DataDir, 'path' | 'shards'>;
  log: Log;
  stack: CleanupStack;
  identity: ControlStore;
  engine: Pick<Engine, 'call' | 'nowMs'>;
  /** Shares the keys of track records with other nodes; left out or null: there are none. */
  sharedKeys?: { follow(keys: TrackRecordKeys): () => Promise<void> } | null;
  /** Null: this server records none. */
  history: Pick<History, 'ask' | 'tops' | 'stored' | 'problems'> | null;
  catalog: Pick<EmbeddedHistory, 'marketNumber'>;
  /** Resolves when what was not asked for may begin. */
  begins: Promise<void>;
};

export type Readers = {
  history: HistorySource;
  backtest: BacktestSource;
  records: RecordsSource;
  /** The events of accounts' orders and trades. */
  events: AccountEventSource;
  /** The worth of accounts. */
  equity: EquitySource;
  /** The keys that sign track records. */
  trackRecordKeys: TrackRecordKeys;
  /** The problems of any of them, one per line. */
  problems(): string[];
};

/** Readers in place of the readers by the settings. */
export type OtherReaders = Partial<Pick<Readers, 'history' | 'backtest' | 'records'>>;

export function startReaders(parts: ReaderParts, others: OtherReaders = {}): Readers {
  const { config, log, stack } = parts;
  const { path: dataDir, shards } = parts.dataDir;
  const history = others.history ?? historySource(parts);
  const { records, problems } =
    others.records === undefined
      ? startRecords(parts, history)
      : { records: others.records, problems: () => [] };
  const trackRecordKeys = new TrackRecordKeys(config.dataDir);
  const share = parts.sharedKeys?.follow(trackRecordKeys);
  if (share !== undefined) trackRecordKeys.shareBy(share);
  const pool = others.backtest === undefined ? startBacktests(parts) : null;
  const backtest = others.backtest ?? backtestSource(parts, pool);
  const confirm = config.cluster === null ? undefined : confirming(parts.engine);
  const events = new AccountEventSource({ dataDir, shards, log, confirm });
  stack.add(() => events.close());
  const equity = new EquitySource({ dataDir, shards, log });
  stack.add(() => equity.close());
  return {
    ...{ history, backtest, records, events, equity, trackRecordKeys },
    problems: () => [
      ...trackRecordKeys.problems,
      ...(parts.history?.problems() ?? []),
      ...problems(),
      ...[events, equity, pool].flatMap((thread) => thread?.problem ?? []),
    ],
  };
}

/** A shard that answers leads in the cluster, and its log here is whole. Rule N151 (engine/RULES.md). */
function confirming(engine: ReaderParts['engine']) {
  return (account: Uuid) =>
    engine.call(account, { kind: 'settled', atMs: engine.nowMs(), account });
}

/** Recorded here, asked of a service, or neither. Rule H20 (api/RULES.md). */
function historySource({ config, history, catalog, log }: ReaderParts): HistorySource {
  const { history: isOn, historyService } = config;
  if (!isOn) return { kind: 'off' };
  if (historyService !== null) return forwardedHistory({ service: historyService, log });
  if (history === null) return { kind: 'off' };
  return {
    kind: 'embedded',
    ask: (asker, question) => history.ask(asker, question),
    tops: (asker, question) => history.tops(asker, question),
    marketNumber: (venue, ticker) => catalog.marketNumber(venue, ticker),
  };
}

/** Null: none run here. */
function startBacktests({ config, history, log, stack }: ReaderParts): BacktestPool | null {
  if (config.backtestUrl !== null || history === null) return null;
  const pool = new BacktestPool({ log });
  stack.add(() => pool.close());
  return pool;
}

/** At a service, over the history of this server, or nowhere. Rule Z14 (engine/RULES.md). */
function backtestSource(parts: ReaderParts, pool: BacktestPool | null): BacktestSource {
  const { config, history, log } = parts;
  const { backtestUrl, dataDir } = config;
  if (backtestUrl !== null) return forwardedBacktest({ url: backtestUrl, log });
  if (pool === null || history === null) return { kind: 'off' };
  return {
    kind: 'embedded',
    pool,
    directory: historyDirectory(dataDir),
    stored: (asker, question) => history.stored(asker, question),
  };
}

function startRecords(parts: ReaderParts, history: HistorySource) {
  const records = createRecords({ ...parts, history });
  parts.stack.add(() => records.close());
  return {
    records: settledRecords(records, parts.engine),
    problems: () => records.problems(),
  };
}

/**
 * The shared parts of routes and listeners. Each of them names the parts that it uses, and its type
 * has no others.
 */
import type { EquitySource } from '../../engine/equity/equity-source.ts';
import type { AccountEventSource } from '../../engine/readers/account-event-source.ts';
import type { EtcdSpace } from '../../engine/replication/space.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import type { Engine } from '../base/engine.ts';
import type { Log } from '../base/logger.ts';
import type { RecentLines } from '../base/recent-lines.ts';
import type { CatalogView } from '../catalog/catalog-view.ts';
import type { InstrumentSearch } from '../catalog/instrument-search.ts';
import type { MarketBus } from '../catalog/market-bus.ts';
import type { Config } from '../config/settings.ts';
import type { OneTimeCodes } from '../identity/one-time-codes.ts';
import type { Organizations } from '../identity/organization-access.ts';
import type { ControlStore } from '../identity/store.ts';
import type { Switches } from '../identity/switches.ts';
import type { RequestMeter } from '../limits/request-meter.ts';
import type { BookNeeds } from '../market-data/book-needs.ts';
import type { ChangedMarkets } from '../market-data/changed-markets.ts';
import type { ContradictedResults } from '../market-data/contradicted-results.ts';
import type { LiveDiscovery } from '../market-data/live-discovery.ts';
import type { SettleMarketByName } from '../market-data/operator-results.ts';
import type { Playback } from '../market-data/playback.ts';
import type { BacktestSource } from '../read-side/backtest-source.ts';
import type { HistorySource } from '../read-side/history-source.ts';
import type { RecordsSource } from '../read-side/records-source.ts';
import type { TrackRecordKeys } from '../read-side/track-record-keys.ts';

export type ServerContext = {
  engine: Engine;
  catalog: CatalogView;
  /** The fee table of the catalog in use. Rule F20 (feeds/FORMATS.md). */
  fees: () => readonly FeeEntry[];
  search: InstrumentSearch;
  feeds: () => FeedStatus[];
  /** The results of markets, and how many differ from their market's result. */
  contradicted: Pick<ContradictedResults, 'count' | 'markets'>;
  /** New markets of venues, found by the server itself. */
  discovery: Pick<LiveDiscovery, 'statuses' | 'counts' | 'runNow'>;
  playback: Playback;
  /** What the feeds must tell of books. */
  bookNeeds: Pick<BookNeeds, 'raise'>;
  history: HistorySource;
  backtest: BacktestSource;
  log: Log;
  /** The last warnings and errors that were logged. */
  recentLines: RecentLines;
  config: Config;
  identity: ControlStore;
  /** Codes that sign a person in once. */
  oneTimeCodes: OneTimeCodes;
  organizations: Organizations;
  /** The keys that sign track records. */
  trackRecordKeys: TrackRecordKeys;
  /** The records of traders. */
  records: RecordsSource;
  settleMarket: SettleMarketByName;
  switches: Switches;
  /** The events of accounts' orders and trades. */
  events: AccountEventSource;
  /** The worth of accounts. */
  equity: Pick<EquitySource, 'inTurn' | 'points'>;
  /** The events of markets. */
  bus: MarketBus;
  /** The markets with new ticks. */
  changed: ChangedMarkets;
  meter: RequestMeter;
  /** The problems of every part of the server, one per line; empty: there are none. */
  problems: () => readonly string[];
  /** Of the fullest member of etcd; null: the server is in no cluster, or none answers. */
  etcdSpace: () => EtcdSpace | null;
  /** Accounts without an owner, one line each, once all were checked. Nobody may trade on them. */
  ownerless: Promise<readonly string[]>;
  /** The bearer token of the admin listener: `admin-token.ts`. */
  adminToken: string;
};

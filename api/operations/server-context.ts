/**
 * What routes and listeners share. Each of them names what it uses of it, and gets no more by its
 * type.
 */
import type { EquitySource } from '../../engine/equity/equity-source.ts';
import type { AccountEventSource } from '../../engine/readers/account-event-source.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import type { Engine } from '../base/engine.ts';
import type { Log } from '../base/log.ts';
import type { RecentLines } from '../base/recent-lines.ts';
import type { CatalogView } from '../catalog/catalog-view.ts';
import type { InstrumentSearch } from '../catalog/instrument-search.ts';
import type { Config } from '../config/settings.ts';
import type { OneTimeCodes } from '../identity/one-time-codes.ts';
import type { Organizations } from '../identity/organization-access.ts';
import type { ControlStore } from '../identity/store.ts';
import type { Switches } from '../identity/switches.ts';
import type { RequestMeter } from '../limits/request-meter.ts';
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
  /** How many results differ from the one that a market has. */
  contradicted: Pick<ContradictedResults, 'count'>;
  /** New markets of venues, found by the server itself. */
  discovery: Pick<LiveDiscovery, 'statuses' | 'counts' | 'runNow'>;
  playback: Playback;
  history: HistorySource;
  backtest: BacktestSource;
  log: Log;
  /** The last warnings and errors that were logged. */
  recentLines: RecentLines;
  config: Config;
  identity: ControlStore;
  /** Codes that sign somebody in once. */
  oneTimeCodes: OneTimeCodes;
  organizations: Organizations;
  /** The keys that sign track records. */
  trackRecordKeys: TrackRecordKeys;
  /** What traders have done. */
  records: RecordsSource;
  settleMarket: SettleMarketByName;
  switches: Switches;
  /** What happened to the orders and trades of accounts. */
  events: AccountEventSource;
  /** What accounts were worth. */
  equity: Pick<EquitySource, 'inTurn' | 'points'>;
  /** Markets of which venues have just spoken. */
  changed: ChangedMarkets;
  meter: RequestMeter;
  /** What is wrong with any part of the server, a line each; empty: nothing. */
  problems: () => readonly string[];
  /** Accounts without an owner, in words, once all were looked at: nobody may trade on them. */
  ownerless: Promise<readonly string[]>;
  /** The bearer token of the admin listener: `admin-token.ts`. */
  adminToken: string;
};

/** Dependencies of the HTTP layer: the composition root creates these, tests fake them. */
import type { EquitySource } from '../engine/equity/equity-source.ts';
import type { FeeEntry } from '../engine/rules/fees.ts';
import type { AccountEventSource } from '../engine/shard/account-event-source.ts';
import type { FeedStatus } from '../feeds/connection-status.ts';
import type { BacktestSource } from './backtest-source.ts';
import type { CatalogView } from './catalog-view.ts';
import type { Config } from './config.ts';
import type { Engine } from './engine.ts';
import type { HistorySource } from './history-source.ts';
import type { OneTimeCodes } from './identity/one-time-codes.ts';
import type { ControlStore } from './identity/store.ts';
import type { InstrumentSearch } from './instrument-search.ts';
import type { RequestMeter } from './limits/request-meter.ts';
import type { Log } from './log.ts';
import type { SettleMarketByName } from './operator-results.ts';
import type { Organizations } from './organizations.ts';
import type { Playback } from './playback.ts';
import type { RecentLines } from './recent-lines.ts';
import type { RecordsSource } from './records-source.ts';
import type { ChangedMarkets } from './stream/changed-markets.ts';
import type { Switches } from './switches.ts';
import type { TrackRecordKeys } from './track-record-keys.ts';

export type Deps = {
  engine: Engine;
  catalog: CatalogView;
  /** The fee table of the catalog in use. Rule F20 (feeds/FORMATS.md). */
  fees: () => readonly FeeEntry[];
  search: InstrumentSearch;
  feeds: () => FeedStatus[];
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

/** Dependencies of the HTTP layer: the composition root creates these, tests fake them. */
import type { ConnectionStatus } from '../feeds/connection-status.ts';
import type { CatalogView } from './catalog-view.ts';
import type { Config } from './config.ts';
import type { Engine } from './engine.ts';
import type { HistorySource } from './history-source.ts';
import type { ControlStore } from './identity/store.ts';
import type { InstrumentSearch } from './instrument-search.ts';
import type { RequestMeter } from './limits/request-meter.ts';
import type { Log } from './log.ts';
import type { Organizations } from './organizations.ts';
import type { Switches } from './switches.ts';

/** One venue connection as an operator sees it; contains no secret. */
export type FeedStatus = Omit<ConnectionStatus, 'downSinceMs'>;

/** A feed file that an operator plays into the server. Rules R38, R39 (feeds/FORMATS.md). */
export type Playback = {
  /**
   * Takes lines of a feed file; resolves once the shards have them.
   * @throws ApiError 400 at a line that cannot be read; those before it are taken
   */
  take(lines: string): Promise<PlayedLines>;
  /** Ends the file's connections: none of their quotes is live any more. */
  close(): void;
};
export type PlayedLines = { lines: number; frames: number; ticks: number; skipped: number };

export type Deps = {
  engine: Engine;
  catalog: CatalogView;
  search: InstrumentSearch;
  feeds: () => FeedStatus[];
  playback: Playback;
  history: HistorySource;
  log: Log;
  config: Config;
  identity: ControlStore;
  organizations: Organizations;
  switches: Switches;
  meter: RequestMeter;
  /** What is wrong with any part of the server, a line each; empty: nothing. */
  problems: () => readonly string[];
  /** Accounts without an owner, in words: nobody may trade on them. Empty: each has an owner. */
  ownerless: readonly string[];
  /** The bearer token of the admin listener: `admin-token.ts`. */
  adminToken: string;
};

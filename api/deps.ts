/** What the HTTP layer is handed: the composition root builds these, tests fake them. */
import type { EpochMs, Venue } from '../engine/rules/units.ts';
import type { CatalogView } from './catalog-view.ts';
import type { Config } from './config.ts';
import type { Engine } from './engine.ts';
import type { ControlStore } from './identity/store.ts';
import type { RequestMeter } from './limits/request-meter.ts';
import type { Log } from './log.ts';
import type { Organizations } from './organizations.ts';
import type { Switches } from './switches.ts';

/** One venue connection as an operator sees it; nothing secret in it. */
export type FeedStatus = {
  venue: Venue;
  adapter: string;
  /** Without user, password, query and fragment, which may hold secrets. */
  url: string;
  host: string;
  state: 'connecting' | 'open' | 'waiting' | 'closed';
  sinceMs: EpochMs;
  /** Attempts since the last connection that stayed healthy. */
  attempts: number;
  frames: number;
  lastHeardMs: EpochMs | null;
  /** Markets whose book is kept. */
  books: number;
  /** Markets asked for that no quote came of, and since when. */
  unquoted: ReadonlyMap<string, EpochMs>;
  lastProblem: string | null;
};

export type Deps = {
  engine: Engine;
  catalog: CatalogView;
  feeds: () => FeedStatus[];
  log: Log;
  config: Config;
  identity: ControlStore;
  organizations: Organizations;
  switches: Switches;
  meter: RequestMeter;
  /** What is wrong with any part of the server, a line each; empty: nothing. */
  problems: () => readonly string[];
  /** Accounts that nobody may trade on, in words; empty: every account is somebody's. */
  ownerless: readonly string[];
  /** The bearer token of the admin listener: `admin-token.ts`. */
  adminToken: string;
};

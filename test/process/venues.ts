/** Simulated venues outside the server: they continue while it is killed and started again. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Simulator, startSimulator } from '../../feeds/simulator/server.ts';
import type { Env } from './server.ts';

export type Venues = {
  /** How `paperbook serve` is configured for them. */
  env: Env;
  /** Gives a market of both its result. */
  resolve: Simulator['resolve'];
  close(): Promise<void>;
};

const LISTED_AHEAD_MS = 4 * 3_600_000;

/** Starts both venues and writes their catalog into `dir`. */
export async function startVenues(dir: string, seed: number): Promise<Venues> {
  const simulator = await startSimulator({ seed });
  const catalog = path.join(dir, 'catalog.json');
  writeFileSync(catalog, JSON.stringify(simulator.catalog(Date.now() + LISTED_AHEAD_MS)));
  const feeds = Object.entries(simulator.urls).map(([venue, url]) => {
    return { venue, adapter: 'native', url };
  });
  return {
    env: {
      PAPERBOOK_CATALOG: catalog,
      PAPERBOOK_FEEDS: JSON.stringify(feeds),
      PAPERBOOK_VENUE_DATA: 'on',
    },
    resolve: (market, result) => simulator.resolve(market, result),
    close: () => simulator.close(),
  };
}

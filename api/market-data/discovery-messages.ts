/** The messages between the callers' thread and the thread of discovery. */
import type { ListChange } from '../../engine/rules/catalog-change.ts';
import type { CombinedReading } from '../../feeds/catalog/discovered.ts';
import type { DiscoverEntry } from '../../feeds/reading/venue.ts';

export type DiscoveryInput = {
  entries: readonly DiscoverEntry[];
  /** The operator's own catalog; null: none. */
  file: string | null;
  discoveredFile: string;
};

/** The result of one run of an entry. */
export type RunReport = {
  /** Markets that the venue listed. */
  found: number;
  /** Numbers of new and of changed instruments. */
  added: number;
  changed: number;
  /** Listings of instruments that another venue lists, too. */
  joined: number;
  /** Games of the whole catalog that did not join, by their slugs; `apart` is how many there are. */
  apart: number;
  apartGames: [string, string][];
  /** Markets that make no instrument here, by reason. */
  leftOut: Record<string, number>;
  /** The error in which the list ended after good pages. */
  incomplete: string | null;
  /** Why nothing could be read; then the counts are 0. */
  problem: string | null;
};

export type ToDiscovery =
  | { kind: 'run'; entry: number }
  /** Instruments that are kept elsewhere now. */
  | { kind: 'drop'; slugs: readonly string[] }
  /** Both files are to be read. */
  | { kind: 'combine'; id: number };

/** A reading, with what it changes in the one that the thread sent before; all of it is new at first. */
export type ChangedReading =
  | (Omit<Extract<CombinedReading, { ok: true }>, 'catalog'> & { change: ListChange })
  | Extract<CombinedReading, { ok: false }>;

export type FromDiscovery =
  /** It takes messages. */
  | { kind: 'opened' }
  /** The discoveries have changed. */
  | { kind: 'changed' }
  | { kind: 'ran'; entry: number; report: RunReport }
  | { kind: 'combined'; id: number; reading: ChangedReading }
  /** The files could not be read. */
  | { kind: 'failed'; id: number; reason: string };

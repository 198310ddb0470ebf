/**
 * A preview as the engine answers it. The API adds the fee, whose table it has. While venue data is
 * off it has no market, and so neither ticker nor age. Rules A75, V10 (api/RULES.md).
 */

import type { EpochMs } from '../../../base/units.ts';
import type { JsonWriter } from '../../../format/json-writer.ts';
import { type Preview, preview } from '../../../rules/preview.ts';
import type { PreviewQuery } from '../../../rules/queries.ts';
import type { Market } from '../../../rules/reference-data.ts';
import type { ShardState } from '../../../rules/state.ts';

export type PreviewReply = Omit<Preview, 'market'> & {
  /** The home market, which the fee depends on; null: the order names none. */
  ticker: string | null;
  quoteAgeMs: number | null;
  venueData: boolean;
};

export function writePreview(
  to: JsonWriter,
  state: ShardState,
  { order, atMs }: PreviewQuery,
): void {
  const { market, ...shown } = preview(state, order, atMs);
  const reply: PreviewReply = {
    ...shown,
    ticker: market?.ticker ?? null,
    quoteAgeMs: quoteAgeMs(state, market, atMs),
    venueData: state.switches.venueData,
  };
  to.value(reply);
}

/** Since the last frame of the quote's connection. Rule T13 (engine/RULES.md). */
function quoteAgeMs({ sources }: ShardState, market: Market | null, nowMs: EpochMs): number | null {
  const quote = market?.quote ?? null;
  const source = quote === null ? undefined : sources[quote.source];
  if (quote === null || source === undefined || source.epoch !== quote.epoch) return null;
  return Math.max(0, nowMs - source.lastHeardMs);
}

/** The displayed levels of an instrument's market on the wire. Rules A84, A85 (api/RULES.md). */

import { type EpochMs, NO_PRICE, type Side } from '../../../base/units.ts';
import { type JsonWriter, memberNames } from '../../../format/json-writer.ts';
import type { DepthLevel } from '../../../rules/messages.ts';
import { complement, notLive } from '../../../rules/pricing.ts';
import type { Instrument, Market } from '../../../rules/reference-data.ts';
import type { ShardState } from '../../../rules/state.ts';

const NAMES = memberNames('instrumentId', 'venue', 'yesBids', 'yesAsks');
const LEVELS_MAX = 20;

type Asks = Readonly<Record<Side, readonly DepthLevel[]>>;

export function writeBook(
  to: JsonWriter,
  state: ShardState,
  instrument: Instrument,
  atMs: EpochMs,
): void {
  const shown = instrument.home ?? instrument.listings[0] ?? null;
  const isOpen = atMs >= instrument.opensAtMs;
  const isLive = shown !== null && isOpen && notLive(state, shown.market, atMs) === null;
  const asks = isLive ? asksOf(state, shown.market) : { yes: [], no: [] };
  const [yes, no] = shown?.polarity === -1 ? [asks.no, asks.yes] : [asks.yes, asks.no];
  const start = to.open();
  to.text(NAMES.instrumentId, instrument.id);
  to.text(NAMES.venue, shown?.market.venue ?? null);
  const bids = no.map(([cents, contracts]): DepthLevel => [complement(cents), contracts]);
  to.json(NAMES.yesBids, bids.slice(0, LEVELS_MAX));
  to.json(NAMES.yesAsks, yes.slice(0, LEVELS_MAX));
  to.close(start);
}

/** Both sides of a market as asks, best first: the fill model's levels, or only the top. */
function asksOf(state: ShardState, market: Market): Asks {
  const kept = state.fillModel.displayed(market.number);
  if (kept !== null) return kept;
  const { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts } = market.quote!;
  return {
    yes: yesAskCents === NO_PRICE ? [] : [[yesAskCents, yesAskContracts]],
    no: yesBidCents === NO_PRICE ? [] : [[complement(yesBidCents), yesBidContracts]],
  };
}

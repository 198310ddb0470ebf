/**
 * The venues' protocols and their adapters, by the name that configuration and feed files use. A new
 * venue has a room of its own, a name in `ADAPTERS`, and its entry here. Rules W1, F2 (feeds/FORMATS.md).
 */
import type { AdapterName, AdapterOptions, VenueAdapter } from '../reading/venue.ts';
import { KALSHI } from './kalshi/protocol.ts';
import { NATIVE } from './native/protocol.ts';
import { POLYMARKET } from './polymarket/protocol.ts';
import { POLYMARKET_US } from './polymarket-us/protocol.ts';
import type { VenueKeys } from './shared/keys.ts';
import type { VenueProtocol } from './shared/protocol.ts';

export const PROTOCOLS: Readonly<Record<AdapterName, VenueProtocol>> = {
  kalshi: KALSHI,
  polymarket: POLYMARKET,
  polymarket_us: POLYMARKET_US,
  native: NATIVE,
};

/**
 * A new adapter for one connection.
 * @throws when the keys are incomplete or of the wrong kind.
 */
export function createAdapter(
  name: AdapterName,
  keys: VenueKeys = {},
  options: AdapterOptions = {},
): VenueAdapter {
  return PROTOCOLS[name].adapter(keys, options);
}

/** Adapters by the name that configuration and feed files use. Rules W1, F2 (feeds/FORMATS.md). */
import type { AdapterName, AdapterOptions, VenueAdapter } from '../reading/venue.ts';
import { kalshiAdapter } from './kalshi/frames.ts';
import { nativeAdapter } from './native/frames.ts';
import { polymarketAdapter } from './polymarket/frames.ts';
import { polymarketUsAdapter } from './polymarket-us/frames.ts';
import type { VenueKeys } from './shared/keys.ts';

/**
 * A new adapter for one connection.
 * @throws when the keys are incomplete or of the wrong kind.
 */
export function createAdapter(
  name: AdapterName,
  keys: VenueKeys = {},
  options: AdapterOptions = {},
): VenueAdapter {
  switch (name) {
    case 'kalshi':
      return kalshiAdapter(keys, options);
    case 'polymarket_us':
      return polymarketUsAdapter(keys, options);
    case 'native':
      return nativeAdapter(options);
    case 'polymarket':
      return polymarketAdapter(options);
    default:
      return name satisfies never;
  }
}

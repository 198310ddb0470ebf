/**
 * The suite that every adapter of a venue runs through: what a venue does wrong, and what a feed on
 * it must then do. A row is a behaviour; it names the adapters that can meet it.
 */
import test, { type ExecutionContext } from 'ava';
import type { AdapterName } from '../../../feeds/reading/venue.ts';
import { KALSHI, NATIVE, POLYMARKET, POLYMARKET_US } from '../live-venues.ts';
import { until } from '../until.ts';
import { stubOf, type VenueStub } from '../venue-stub.ts';

const PROTOCOLS = {
  kalshi: KALSHI,
  polymarket: POLYMARKET,
  polymarket_us: POLYMARKET_US,
  native: NATIVE,
};
/** Those with a REST API. */
const BY_REST: readonly AdapterName[] = ['kalshi', 'polymarket', 'polymarket_us'];

/** `title` begins with the numbers of its rules. */
function row(
  title: string,
  adapters: readonly AdapterName[],
  play: (t: ExecutionContext, stub: VenueStub, name: AdapterName) => Promise<void>,
): void {
  for (const name of adapters) {
    test(`${title} (${name})`, async (t) => play(t, await stubOf(t, PROTOCOLS[name]), name));
  }
}

row('W15: resolved by REST while nobody listened', BY_REST, async (t, { states, venue, open }) => {
  const world = open();
  await until(() => world.priceOf('A') !== null, 'a price');
  states.set('A', 'yes');
  venue.sockets[0]!.terminate();
  await until(() => world.results.has('A'), 'the result');
  t.deepEqual(world.results.get('A'), ['yes', 100]);
});

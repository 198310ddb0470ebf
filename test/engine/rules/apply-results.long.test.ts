/** Rule M11 at its end: an account wins all that can be counted, in some ninety thousand orders. */
import test from 'ava';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import type { Reply } from '../../../engine/rules/messages.ts';
import { AWAY, accountRow, CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const COUNT_MAX = 1_000_000_000;
/** 2^53 - 1. */
const MOST_CENTS = 9_007_199_254_740_991;

/** The fixtures' catalog, with the markets that the attack wins in and one more. */
const STAGES = 5;
const tickers = Array.from({ length: STAGES + 1 }, (_, stage) => `S${stage}`);
const STAGED: Catalog = {
  ...CATALOG,
  instruments: tickers.map((venueMarketId, stage) => {
    const [away] = CATALOG.instruments;
    const listings = [{ ...away!.listings[0]!, venueMarketId }];
    return { ...away!, id: idOf(stage), slug: venueMarketId, listings };
  }),
  marketNames: tickers.map((ticker) => `venue_a/${ticker}`),
  instrumentIds: tickers.map((_, stage) => idOf(stage)),
};

function idOf(stage: number): string {
  return `${AWAY.slice(0, -1)}${stage}`;
}

test('M11: whoever wins all there is never stops the shard', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: STAGED });
  const { accounts } = engine.state();
  const balanceCents = () =>
    accounts.live === 0 ? 10_000_000 : accounts.col.balanceCents.get(accountRow(0));
  let refusal: Reply | null = null;
  for (let market = 0; market < STAGES; market++) {
    engine.tick(quoteTick({ market, yesBidCents: 0, yesAskCents: 1 }));
    while (balanceCents() > 0 && refusal === null) {
      const contracts = Math.min(COUNT_MAX, balanceCents());
      const reply = engine.command(placeOrder({ instrumentId: idOf(market), contracts }));
      if (!reply.ok) refusal = reply;
    }
    const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
    engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market, ...pays });
  }
  t.like(refusal, { ok: false, code: 'invalid_request' });
  t.true(balanceCents() > 0.99 * MOST_CENTS, 'it was paid all the same');
  t.deepEqual(engine.conservation(), []);

  // What an operator takes off it stays won: no more can be won than can be counted.
  const account = uuidOf(1);
  const amountCents = COUNT_MAX - balanceCents();
  t.true(engine.command({ kind: 'adjust', atMs: NOON_MS, account, amountCents }).ok);
  engine.tick(quoteTick({ market: STAGES, yesBidCents: 0, yesAskCents: 1 }));
  const again = () => placeOrder({ instrumentId: idOf(STAGES), contracts: COUNT_MAX });
  t.like(engine.command(again()), { ok: false, code: 'invalid_request' });
  engine.crash();
  t.like(engine.command(again()), { ok: false, code: 'invalid_request' });
  t.deepEqual(engine.conservation(), []);
});

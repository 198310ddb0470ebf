/** A preview against the order itself: random bodies, keys, accounts and states. */
import test from 'ava';
import { newOrganization } from '../../../../api/identity/organizations.ts';
import { createRandomSource } from '../../../model/random-source.ts';
import { seedsOfRun, shareOf } from '../../../model/seeds.ts';
import { IDS, NOW_MS } from '../../samples.ts';
import { type Answer, type Api, startApi } from '../../support.ts';

const ORDERS = '/portfolio/orders';
/** A check of each change takes half of them. */
const ROUNDS = Math.max(110, shareOf(220));
const UNKNOWN = '0195d3a0-0000-7000-8000-0000000000ff';
const SCOPES = ['portfolio:read', 'trade:write'] as const;
const VENUES = ['trade:write:venue_a', 'trade:write:venue_c_intl'] as const;

type Random = ReturnType<typeof createRandomSource>;

/** Mostly whole, of things that mostly exist. */
function randomBody(random: Random, tradeIds: readonly string[]): Record<string, unknown> {
  const type = random.pick(['market', 'limit']);
  const cents = () => random.pick([1, 30, 40, 42, 43, 44, 60, 99]);
  const sometimes = (one: number, fields: () => object) => (random.oneIn(one) ? fields() : {});
  const ids = [...Object.values(IDS), 'ins_ZZZZZZZZZZZZ'];
  const tickers = ['T-LIONS', 'B-LIONS', 'NONE'];
  const buy = () => ({
    ...(random.oneIn(4) ? { ticker: random.pick(tickers) } : { instrumentId: random.pick(ids) }),
    side: random.pick(['yes', 'no']),
    count: random.pick([1, 10, 200_000, 1_000_000_000]),
    ...sometimes(5, () => ({ statedProbPct: 50 })),
  });
  const isBuy = random.int(0, 2) > 0;
  return {
    ...{ action: isBuy ? 'buy' : 'sell', type },
    ...(isBuy ? buy() : { tradeId: random.pick([...tradeIds, UNKNOWN]) }),
    ...(type === 'limit' ? { limitPriceCents: cents() } : {}),
    ...sometimes(3, () => ({ timeInForce: random.pick(['gtc', 'ioc', 'fok']) })),
    ...sometimes(8, () => ({ maxPriceCents: cents() })),
    ...sometimes(8, () => ({ minPriceCents: cents() })),
    ...sometimes(9, () => ({
      expiresAt: new Date(NOW_MS + random.pick([-1, 1, 4e10])).toISOString(),
    })),
    ...sometimes(9, () => ({
      rejectIfLaterThan: new Date(NOW_MS + random.pick([-1, 0])).toISOString(),
    })),
    ...sometimes(6, () => ({ routing: 'best' })),
    ...sometimes(6, () => ({
      execution: random.pick(['paper', 'venue_a', 'venue_c_intl', 'venue_c']),
    })),
    ...sometimes(25, () => ({ cout: 1 })),
  };
}

const codeOf = ({ status, json }: Answer): string | null =>
  status >= 400 ? `${status} ${json.error.code}` : (json.code ?? null);

/** As a preview names it. */
function outcomeOf({ status, json }: Answer): string {
  if (status >= 400) return 'refuse';
  return { executed: 'execute', resting: 'rest', canceled: 'cancel' }[json.status as 'resting'];
}

/** What is otherwise from now on. */
async function changeState(api: Api, random: Random): Promise<void> {
  const market = random.int(0, 2);
  switch (random.int(0, 5)) {
    case 0:
      return api.switches.set('trading', random.int(0, 2) > 0);
    case 1: {
      const status = random.pick(['open', 'open', 'paused'] as const);
      return api.engine.tick({ kind: 'status', atMs: NOW_MS, source: 0, market, status });
    }
    case 2: {
      const venueKey = { userId: api.user.id, venue: 'venue_a', venueKeyId: 'k' } as const;
      return api.store.putVenueKey({ ...venueKey, createdAtMs: 1 });
    }
    case 3: {
      const plan = random.pick(['none', 'basic', 'basic'] as const);
      await api.store.changeUser(api.user.id, { plan });
      return;
    }
    default:
  }
}

const SEEDS = 3;

test('A75, T133: a preview refuses what the order is refused for, and says what it would do', async (t) => {
  const seen = new Map<string, number>();
  const seeds = seedsOfRun(SEEDS);
  for (const seed of seeds) {
    const random = createRandomSource(seed);
    const api = await startApi(t);
    const organization = newOrganization({ slug: 'acme', name: 'Acme' }, 1);
    await api.store.organizations.add(organization);
    const membership = { organizationId: organization.id, userId: api.user.id };
    await api.store.organizations.putMember({ ...membership, role: 'member', createdAtMs: 1 });
    const added = await Promise.all([
      api.addKey({ scopes: [...SCOPES, ...VENUES] }),
      api.addKey({ scopes: [...SCOPES, VENUES[0]] }),
      api.addKey({ scopes: [...SCOPES] }, 'none'),
    ]);
    const tokens = [api.token, api.token, api.token, ...added];
    const wide = { newPerMinute: 60, newPerDay: 60, closingPerMinute: 30 };
    await api.store.changeUser(api.user.id, {
      ...{ plan: 'enterprise', tradeLimits: { key: wide, account: wide } },
    });
    const tradeIds: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      if (random.oneIn(6)) await changeState(api, random);
      const token = random.pick(tokens);
      const header = random.pick([null, null, null, null, organization.id, UNKNOWN, 'acme']);
      const headers: Record<string, string> = header === null ? {} : { 'x-service-org': header };
      const body = { ...randomBody(random, tradeIds), idempotencyKey: `${seed}-${round}` };
      const preview = await api.call('POST', `${ORDERS}/preview`, { token, headers, body });
      const placed = await api.call('POST', ORDERS, { token, headers, body });
      const at = `${seed} ${round} ${JSON.stringify(body)} ${header}\n${preview.text}\n${placed.text}`;
      if (preview.status >= 400) t.is(codeOf(preview), codeOf(placed), at);
      else {
        const code = placed.status >= 400 ? placed.json.error.code : null;
        t.is(preview.json.code ?? null, code, at);
        t.is(preview.json.would, outcomeOf(placed), at);
        const { trade } = placed.json;
        if (placed.json.action === 'buy' && trade?.status === 'open') tradeIds.push(trade.tradeId);
      }
      const outcome = codeOf(placed) ?? outcomeOf(placed);
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }
  }
  t.true(seen.size >= (seeds.length < SEEDS ? 10 : 18), JSON.stringify([...seen]));
});

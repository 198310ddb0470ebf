/** Breaches of facts that a checkpoint covers: nothing plays them again, so each must be looked at. */
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Uuid } from '../../../engine/base/units.ts';
import { ByteReader, ByteWriter } from '../../../engine/format/bytes.ts';
import type { Message } from '../../../engine/format/codec.ts';
import { readFact, writeFact } from '../../../engine/format/fact-layouts.ts';
import { INDEX_CLASS, placeAt } from '../../../engine/index/entry.ts';
import { LogReader } from '../../../engine/log/log-reader.ts';
import { uuidWords } from '../../../engine/memory/uuid-words.ts';
import type { Fact, FactPlace } from '../../../engine/rules/facts.ts';
import type { DepthLevel } from '../../../engine/rules/messages.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import type { StoredState } from '../../../engine/shard/core/create-state.ts';
import { identityOf } from '../../../engine/shard/store/data-format.ts';
import { logIn } from '../../../engine/shard/store/shard-log.ts';
import { Shard } from '../../../engine/shard/thread/shard.ts';
import { auditFacts } from '../../../engine/verify/audit-facts.ts';
import type { KeptAudit } from '../../../engine/verify/kept-audit.ts';
import { verifyShard } from '../../../engine/verify/verify.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';
import {
  ALICE,
  openShard,
  plant,
  rewriteLog,
  setCell,
  type Traded,
  tradedShard,
} from '../shard/environment.ts';
import { type Planted, SECTION, testBreaches } from '../shard/planted.ts';

type Of<K> = Extract<Fact, { kind: K }>;

/** Changes the first fact of a kind that is of an id. No length changes, so all places stay. */
const changed =
  <K extends Fact['kind']>(
    kind: K,
    idOf: (ids: Traded) => Uuid,
    change: (fact: Of<K>, ids: Traded) => Partial<Of<K>>,
  ) =>
  (dir: string, ids: Traded) =>
    rewriteLog(dir, (records) => {
      const facts = records.flatMap((record) => record.facts);
      const found = facts.find((fact) => {
        const named = [(fact as { order?: Uuid }).order, (fact as { trade?: Uuid }).trade];
        return fact.kind === kind && named.includes(idOf(ids));
      });
      Object.assign(found!, change(found as Of<K>, ids));
    });

const canceled = ({ canceled: id }: Traded) => id;
const closed = ({ closed: id }: Traded) => id;
const open = ({ open: id }: Traded) => id;

const FACTS: Planted[] = [
  [
    'an order under another key',
    changed('order_placed', canceled, () => ({ idempotencyKey: 'CANCELED' })),
    /^fact \d+ \(order_placed\): its key CANCELED counts as never used$/,
  ],
  [
    'an order of an account that is not open',
    changed('order_placed', canceled, () => ({ account: uuidOf(55) })),
    /^fact \d+ \(order_placed\): names account \S+, which is not open$/,
  ],
  [
    'two orders of one id',
    changed('order_placed', canceled, (_, { resting }) => ({ order: resting })),
    /^fact \d+ \(order_placed\): order \S+ is placed twice$/,
  ],
  [
    'a resting order as another than was placed',
    changed(
      'order_placed',
      ({ resting }) => resting,
      () => ({ limitPriceCents: 21 }),
    ),
    /^fact \d+ \(order_placed\): rests as another order than was placed$/,
  ],
  [
    'a row of a resting order that leads elsewhere',
    (dir) => plant(dir, (tables) => setCell(tables, 'orders', 'placedOffset', 0, 7)),
    /^fact \d+ \(order_placed\): rests, and its row names another place in the log$/,
  ],
  [
    'an end of another order',
    changed('order_ended', canceled, (_, { resting }) => ({ order: resting })),
    /^fact \d+ \(order_ended\): names the place of order \S+$/,
  ],
  [
    'an end of an order that rests',
    changed('order_ended', canceled, (_, { resting }) => ({ order: resting })),
    /^fact \d+ \(order_ended\): order \S+ rests and has an end$/,
  ],
  [
    'an end that leads to no placement',
    changed('order_ended', canceled, ({ placed }) => ({
      placed: { ...placed, offset: placed.offset + 1 },
    })),
    /^fact \d+ \(order_ended\): /,
  ],
  [
    'an order that executed without a trade',
    changed('order_ended', canceled, () => ({ status: 'executed' })),
    /^fact \d+ \(order_ended\): executed without a trade$/,
  ],
  [
    'an end that its order cannot have',
    changed('order_ended', canceled, () => ({ status: 'expired' })),
    /^fact \d+ \(order_ended\): is expired because of ioc_not_filled$/,
  ],
  [
    'a fill beyond its limit',
    changed('order_ended', canceled, () => ({ filledContracts: 1, fillPriceCents: 21 })),
    /^fact \d+ \(order_ended\): was filled at 21, beyond its limit$/,
  ],
  [
    'an order that names a trade that never was',
    changed('order_filled', open, () => ({ trade: uuidOf(66) })),
    /^fact \d+ \(order_filled\): names trade \S+, which is missing$/,
  ],
  [
    'a closed trade says another profit than the account',
    changed('trade_closed', closed, ({ proceedsCents }) => ({ proceedsCents: proceedsCents + 1 })),
    /^account \S+: realized -\d+ cents, its closed trades -\d+$/,
  ],
  [
    'a trade that is open and closed',
    changed('trade_closed', closed, (_, ids) => ({ trade: ids.open })),
    /^fact \d+ \(trade_closed\): trade \S+ is closed and open$/,
  ],
  [
    'a closed trade that the index does not know',
    changed('trade_closed', closed, () => ({ trade: uuidOf(66) })),
    /^fact \d+ \(trade_closed\): the index lacks trade \S+$/,
  ],
  [
    'a closed trade of another market than its orders',
    changed('trade_closed', closed, () => ({ market: 1 })),
    /^fact \d+ \(order_filled\): names trade \S+, which is of another market or side$/,
  ],
  [
    'a closed trade at another price than it cost',
    changed('trade_closed', closed, () => ({ entryPriceCents: 44 })),
    /^fact \d+ \(trade_closed\): was not bought at its entry price$/,
  ],
  [
    'a sell that closed its trade at another time',
    changed('trade_closed', closed, ({ atMs }) => ({ atMs: atMs + 1 })),
    /^fact \d+ \(order_filled\): has sold trade \S+, which it did not close$/,
  ],
];

testBreaches('facts', FACTS);

test.serial(`${SECTION}, facts: a trade that its market settled otherwise`, async (t) => {
  const dir = tempDir(t);
  const shard = await openShard(dir);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  shard.run([placeOrder({ account: ALICE })]);
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  shard.run([{ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...pays }]);
  await shard.close();
  t.deepEqual((await verifyShard(dir, 0, 1))!.problems, []);
  rewriteLog(dir, (records) => {
    for (const fact of records.flatMap((record) => record.facts)) {
      if (fact.kind === 'trade_settled') fact.outcome = 'no';
    }
  });
  const { problems } = (await verifyShard(dir, 0, 1))!;
  t.regex(problems.join(), /^fact \d+ \(trade_settled\): ended with no, and its market with yes$/);
});

test.serial(
  `${SECTION}, S21, S23, facts: a corrected trade agrees with its market and its account`,
  async (t) => {
    const dir = tempDir(t);
    const shard = await openShard(dir);
    shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
    shard.run([placeOrder({ account: ALICE })]);
    const [yes, no] = [
      { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 },
      { outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 },
    ] as const;
    const settle = { kind: 'settle', atMs: NOON_MS, market: 0 } as const;
    shard.run([{ ...settle, ...yes, correction: null }]);
    shard.run([{ ...settle, ...no, correction: 1 }]);
    shard.run([{ ...settle, ...yes, correction: 2 }]);
    await shard.close();
    t.deepEqual((await verifyShard(dir, 0, 1))!.problems, []);
    const again = await openShard(dir);
    t.deepEqual(again.run([{ ...settle, ...no, correction: 2 }]).length, 1);
    t.is(again.state.markets[0]!.outcome, 'yes');
    await again.abandon();
    rewriteLog(dir, (records) => {
      const facts = records.flatMap((record) => record.facts);
      const [, second] = facts.filter(({ kind }) => kind === 'trade_corrected');
      Object.assign(second!, { from: 'void', changedByCents: 7, cashCents: 3 });
    });
    const problems = (await verifyShard(dir, 0, 1))!.problems.join('\n');
    t.regex(problems, /^fact \d+ \(trade_corrected\): trade \S+ had the result no$/m);
    t.regex(problems, /^fact \d+ \(trade_corrected\): trade \S+ brought 0 cents before it$/m);
    t.regex(problems, /^fact \d+ \(trade_corrected\): moves 3 cents of 7$/m);
    t.regex(problems, /^account \S+: run 1 realized \d+ cents, not -?\d+$/m);
  },
);

type PlacedFact = { number: number; fact: Fact; place: FactPlace };

/** Audits facts one by one, each at its own place. */
function auditOf(state: StoredState, facts: readonly PlacedFact[], kept: KeptAudit | null = null) {
  const records = facts.map(({ number, fact, place: { record, offset } }) => {
    const to = new ByteWriter();
    to.packed(new Uint8Array(offset));
    writeFact(to, fact);
    return { position: record, firstNumber: number, payload: to.copy(), at: offset };
  });
  return auditFacts(state, records, kept);
}

/** A shard's state and facts, to be audited with a change of one of them. */
async function stateAndFacts(dir: string) {
  const ids = await tradedShard(dir);
  const shard = await openShard(dir);
  const log = LogReader.open(logIn(dir), identityOf(0));
  const facts: PlacedFact[] = [];
  for (const { firstNumber, position, payload } of log.records(0)) {
    const from = new ByteReader(payload);
    for (let number = firstNumber; !from.isAtEnd; number++) {
      const place = { record: position, offset: from.at };
      facts.push({ number, fact: readFact(from), place });
    }
  }
  log.close();
  return { ids, shard, facts };
}

test.serial(
  'D99: an order without an end is named, where the index lacks it as well',
  async (t) => {
    const { ids, shard, facts } = await stateAndFacts(tempDir(t));
    const { state } = shard;
    t.deepEqual(auditOf(state, facts).problems, []);
    const end = facts.find(
      ({ fact }) => fact.kind === 'order_ended' && fact.order === ids.canceled,
    )!;
    const left = facts
      .filter((fact) => fact !== end)
      .map((fact, at) => ({ ...fact, number: at + 1 }));
    const { index } = state.records;
    const forEach = index.forEach.bind(index);
    index.forEach = (each) =>
      forEach((words, at) => {
        const { record, offset } = placeAt(words, at);
        if (record !== end.place.record || offset !== end.place.offset) each(words, at);
      });
    const { problems } = auditOf(state, left);
    t.is(problems.length, 1, problems.join('; '));
    t.regex(problems[0]!, /^fact \d+ \(order_placed\): neither rests nor has an end$/);
    index.forEach = forEach;
    t.regex(auditOf(state, left).problems.join('; '), /^index: has \d+ entries, and the log \d+/);
    await shard.abandon();
  },
);

test.serial('T187: levels that are not those of the fill before are named', async (t) => {
  const { shard, facts } = await stateAndFacts(tempDir(t));
  const { state } = shard;
  const at = facts.findIndex(({ fact }) => fact.kind === 'fill_noted');
  const filled = facts.slice(0, at).findLast(({ fact }) => fact.kind === 'order_filled')!;
  const { contracts, priceCents, atMs } = filled.fact as Of<'order_filled'>;
  const problemsWith = (levels: Of<'fill_noted'>['levels'], before: PlacedFact[]) => {
    const note = { ...facts[at]!, fact: { ...facts[at]!.fact, levels } as Fact };
    const all = [...before, note, ...facts.slice(at + 1)];
    return auditOf(
      state,
      all.map((one, nth) => ({ ...one, number: nth + 1 })),
    ).problems;
  };
  const before = facts.slice(0, at);
  t.deepEqual(problemsWith([[priceCents, contracts]], before), []);
  const short = problemsWith([[priceCents, contracts - 1]], before).join();
  t.regex(short, /^fact \d+ \(fill_noted\): has levels of \d+ contracts for a fill of \d+$/);
  const dear = problemsWith([[priceCents + 1, contracts]], before).join();
  t.regex(dear, /^fact \d+ \(fill_noted\): has levels at \d+ cents for a fill at \d+$/);
  const other = { kind: 'game_changed', atMs, game: 'awy-hom', status: 'final' } as const;
  const alone = [...before, { ...filled, fact: other }];
  t.regex(problemsWith([], alone).join(), /\(fill_noted\): tells of no fill$/);
  await shard.abandon();
});

test.serial('D97: an order that ended before ends again, and the index has both', async (t) => {
  const { ids, shard, facts } = await stateAndFacts(tempDir(t));
  const { state } = shard;
  const last = facts.at(-1)!;
  const tail = last.place.record + 10_000;
  const kept = { facts: last.number, digest: 0, tail, ...auditOf(state, facts).kept };
  t.deepEqual(auditOf(state, [], kept).problems, []);
  const { fact } = facts.find((one) => {
    return one.fact.kind === 'order_ended' && one.fact.order === ids.canceled;
  })!;
  const [w0, w1, w2, w3] = uuidWords(ids.canceled) as unknown as [number, number, number, number];
  const account = state.accountIds.find(ALICE);
  const { orderCanceled } = INDEX_CLASS;
  state.records.index.add(account, orderCanceled, w0, w1, w2, w3, tail, 0);
  const again = { number: last.number + 1, fact, place: { record: tail, offset: 0 } };
  const { problems } = auditOf(state, [again], kept);
  t.true(
    problems.some((line) => /the index finds another end of order/.test(line)),
    problems.join('; '),
  );
  await shard.abandon();
});

type Levels = { yesBids: DepthLevel[]; yesAsks: DepthLevel[] };

/**
 * Verifies a shard by levels after these orders of Alice, each at the levels of its moment; `change`
 * plants something in the facts.
 */
async function problemsAfter(
  t: ExecutionContext,
  steps: readonly (Levels & { command: Message })[],
  change: (facts: Fact[]) => void = () => {},
) {
  const dir = tempDir(t);
  const shard = await openShard(dir, 1000, 'book_depth');
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }]);
  for (const { yesBids, yesAsks, command } of steps) {
    const [[yesBidCents, yesBidContracts], [yesAskCents, yesAskContracts]] = [
      yesBids[0]!,
      yesAsks[0]!,
    ];
    const top = { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts };
    shard.run([quoteTick({ ...top, depth: { yesBids, yesAsks } })]);
    const [reply] = shard.run([command]);
    t.true(reply?.ok, JSON.stringify(reply));
  }
  t.is([...shard.state.orders.rows()].length, 0, 'all orders have ended');
  await shard.close();
  rewriteLog(dir, (records) => change(records.flatMap(({ facts }) => facts)));
  return (await verifyShard(dir, 0, 1, null))!.problems;
}

test.serial(
  'T209, D16: a fill at the limit before a change is no breach of the one after',
  async (t) => {
    const at: Levels = { yesBids: [[30, 9]], yesAsks: [[43, 4]] };
    const order = placeOrder({ account: ALICE, limitPriceCents: 43 });
    const { orderId, account } = order;
    const of = { atMs: NOON_MS, account, orderId, counting: null };
    const change = { contracts: null, limitPriceCents: 35, mayOpen: true, mayTrade: true };
    const problems = await problemsAfter(t, [
      { ...at, command: order },
      { ...at, command: { kind: 'amend', ...of, ...change, idempotencyKey: 'lower' } },
      { ...at, command: { kind: 'cancel', ...of } },
    ]);
    t.deepEqual(problems, []);
  },
);

test.serial('T236: each fill is within the limit that its order had then', async (t) => {
  const at = (yesAsk: DepthLevel): Levels => ({ yesBids: [[30, 9]], yesAsks: [yesAsk] });
  const order = placeOrder({ account: ALICE, limitPriceCents: 43, contracts: 9 });
  const { orderId, account } = order;
  const of = { atMs: NOON_MS, account, orderId, counting: null };
  const terms = { contracts: null, limitPriceCents: 35, mayOpen: true, mayTrade: true };
  // The quote before it fills the other order.
  const low = { account: ALICE, limitPriceCents: 1, contracts: 1, timeInForce: 'ioc' } as const;
  const problemsOf = (change: (facts: Fact[]) => void) =>
    problemsAfter(
      t,
      [
        { ...at([43, 4]), command: order },
        { ...at([43, 4]), command: { kind: 'amend', ...of, ...terms, idempotencyKey: 'lower' } },
        { ...at([35, 3]), command: placeOrder(low) },
        { ...at([34, 9]), command: placeOrder({ ...low, idempotencyKey: 'low' }) },
      ],
      change,
    );
  t.deepEqual(await problemsOf(() => {}), []);
  const at44 = (which: 0 | 1, priceCents: number) => (facts: Fact[]) => {
    const parts = facts.filter((fact) => fact.kind === 'order_part_filled');
    t.is(parts.length, 2, 'one before the change, and one after it');
    parts[which]!.priceCents = priceCents;
  };
  const beyond = (cents: number) =>
    new RegExp(`^fact \\d+ \\(order_part_filled\\): was filled at ${cents}, beyond its limit$`);
  const named = (problems: string[], cents: number) =>
    problems.filter((line) => beyond(cents).test(line)).length;
  t.is(named(await problemsOf(at44(0, 44)), 44), 1, 'beyond the first limit');
  t.is(named(await problemsOf(at44(1, 40)), 40), 1, 'within the first limit, beyond the second');
  const last = await problemsOf((facts) => {
    const filled = facts.filter((fact) => fact.kind === 'order_filled');
    Object.assign(filled.find((fact) => fact.order === orderId)!, { priceCents: 36 });
  });
  t.true(
    last.some((line) => /\(order_filled\): was filled at 36, beyond its limit$/.test(line)),
    last.join('; '),
  );
});

test.serial('T237: what is taken of a level is what the facts of its display took', async (t) => {
  const dir = tempDir(t);
  const shard = await openShard(dir, 1000, 'book_depth');
  const market = { account: ALICE, realism: { ...PRESETS.simple, liquidity: 'market' } } as const;
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }]);
  // The last size is another display.
  for (const [yesAskContracts, contracts] of [
    [100, 60],
    [100, 15],
    [90, 90],
  ] as const) {
    shard.run([quoteTick({ yesAskCents: 43, yesAskContracts, atMs: NOON_MS })]);
    const [reply] = shard.run([placeOrder({ ...market, contracts })]);
    t.true(reply?.ok, JSON.stringify(reply));
  }
  await shard.close();
  const { problems, taken } = (await verifyShard(dir, 0, 1))!;
  t.deepEqual(problems, []);
  t.deepEqual(Array.from(taken.slice(3)), [100, 75, 0, 43, NOON_MS + 1, 90, 90]);
  const planted = async (change: (facts: Of<'liquidity_taken'>[]) => void) => {
    rewriteLog(dir, (records) => {
      const facts = records.flatMap((record) => record.facts);
      change(facts.filter((fact) => fact.kind === 'liquidity_taken'));
    });
    return (await verifyShard(dir, 0, 1))!.problems.join('; ');
  };
  t.is(
    await planted((facts) => Object.assign(facts[2]!, { contracts: 89 })),
    'taken level 0 yes 43: 90 are taken, and its facts took 89',
  );
  t.regex(
    await planted((facts) => Object.assign(facts[1]!, { shown: 99 })),
    /^fact \d+ \(liquidity_taken\): names another size than its display showed/,
  );
});

test.serial('D101: many waiting orders are remembered, and long placements', async (t) => {
  const dir = tempDir(t);
  const shard = await openShard(dir, 100_000);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  const orders = Array.from({ length: 300 }, (_, nth) => {
    const idempotencyKey = nth % 7 === 0 ? `${nth}`.padEnd(200, '.') : `${nth}`;
    return placeOrder({ account: ALICE, limitPriceCents: 2, contracts: 1, idempotencyKey });
  });
  shard.run(orders);
  for (const { account, orderId } of orders) {
    const [reply] = shard.run([
      { kind: 'cancel', atMs: NOON_MS, account, orderId, counting: null },
    ]);
    t.true(reply?.ok);
  }
  await shard.close();
  t.deepEqual((await verifyShard(dir, 0, 1))!.problems, []);
  rewriteLog(dir, (records) => {
    for (const fact of records.flatMap((record) => record.facts)) {
      if (fact.kind === 'order_ended') fact.feesCents = 1;
    }
  });
  const { problems } = (await verifyShard(dir, 0, 1))!;
  const charged = problems.filter((line) => /: has fees and pays none, or the reverse$/.test(line));
  t.true(charged.length >= 100, problems.slice(0, 3).join('; '));
});

test.serial('T192, D16: a trade that grows is counted once, whatever opens after it', async (t) => {
  const at = (size: number): Levels => ({
    yesBids: [[40, size]],
    yesAsks: [[43, 9]],
  });
  const net = { side: 'no', netting: 'net', limitPriceCents: 60 } as const;
  const problems = await problemsAfter(t, [
    { ...at(4), command: placeOrder({ account: ALICE, ...net, contracts: 9 }) },
    // A quote of more fills the order again, and its trade grows.
    { ...at(7), command: placeOrder({ account: ALICE, contracts: 1 }) },
  ]);
  t.deepEqual(problems, []);
});

test('T161, D97: market orders that wait for their latency are no breach of a checkpoint', async (t) => {
  const dir = path.join(tempDir(t), 'shard-0');
  const shard = await Shard.open({
    ...{ path: dir, shard: 0, durability: 'commit', fillModel: 'top_of_book' },
    ...{ checkpointEveryFacts: 200, quoteMaxAgeMs: 15_000, routingBandCents: 10 },
  });
  const realism = { ...PRESETS.simple, latencyMs: { min: 20, max: 20 } };
  shard.run([
    { kind: 'catalog', atMs: NOON_MS, catalog: CATALOG },
    quoteTick({ atMs: NOON_MS }),
    placeOrder({ atMs: NOON_MS, realism }),
  ]);
  await shard.close();
  const file = path.join(dir, '../kept');
  t.like(await verifyShard(dir, 0, 1, { file, isWhole: true }), {
    ...{ restingOrders: 1, checkpointFacts: 3, problems: [] },
  });
});

/** The facts of the log: their bytes for ever, and that they say everything. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { digest } from '../../../engine/audit/digest.ts';
import { FILL_MODELS, type FillModelName } from '../../../engine/base/units.ts';
import { ByteReader, ByteWriter, InPlaceReader } from '../../../engine/format/bytes.ts';
import {
  FACT_FORMS,
  factAt,
  KIND,
  readFact,
  readFactInPlace,
  writeFact,
} from '../../../engine/format/fact-layouts.ts';
import { uuidText } from '../../../engine/records/store/uuid-bytes.ts';
import type { Fact } from '../../../engine/rules/facts.ts';
import { createNaiveEngine } from '../../model/naive-engine.ts';
import { createRandomInput, type Step } from '../../model/random-input.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { createMemoryEngine, type MemoryEngine, type MemoryRecord } from '../memory-engine.ts';

type Golden = { forms: string[]; facts: { fact: Fact; hex: string }[] };

const GOLDEN = new URL('../../golden/format/facts.json', import.meta.url);
const golden = JSON.parse(readFileSync(GOLDEN, 'utf8')) as Golden;

test('D3: facts have the numbers, fields and words that they always had', (t) => {
  t.deepEqual(
    FACT_FORMS.map(({ form }) => form),
    golden.forms,
  );
});

for (const [at, { fact, hex }] of golden.facts.entries()) {
  test(`D3: the fact ${fact.kind} (line ${at + 1}) is in the log as it always was`, (t) => {
    const to = new ByteWriter();
    writeFact(to, fact);
    t.is(to.copy().toString('hex'), hex);
    t.deepEqual(factAt(Buffer.from(hex, 'hex'), 0), fact);
  });
}

test('D3, Y96: a fact that is read in place says the same; ids and keys are where they lie', (t) => {
  const ids = ['account', 'order', 'trade', 'parlay', 'key', 'group'];
  for (const { fact, hex } of golden.facts) {
    const bytes = Buffer.concat([Buffer.alloc(3), Buffer.from(hex, 'hex')]);
    const from = new InPlaceReader(bytes);
    from.goTo(3);
    const found = readFactInPlace(from);
    t.true(from.isAtEnd);
    const texts = Object.entries(found).map(([name, value]) => {
      const at = value as never;
      if (name === 'idempotencyKey') return [name, from.wordBytes(at).toString('latin1')];
      if (!ids.includes(name) || value === null) return [name, value];
      t.is(from.idText(at), uuidText(from.idBytes(at)));
      return [name, from.idText(at)];
    });
    t.deepEqual(Object.fromEntries(texts), fact as Fact);
  }
  t.throws(() => readFactInPlace(new InPlaceReader(Uint8Array.of(99))), {
    message: /unknown kind \(99\)/,
  });
});

test('every kind of fact has its golden bytes, and a number of no kind is an error', (t) => {
  const kinds = golden.facts.map(({ fact }) => fact.kind);
  t.deepEqual([...new Set(kinds)].sort(), Object.keys(KIND).sort());
  t.throws(() => factAt(Uint8Array.of(99), 0), { message: /unknown kind \(99\)/ });
});

const STEPS = 1500;
const SEEDS = variantsOfRun([1, 3, 4, 5]);

const configOf = (fillModel: FillModelName) => {
  return { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel };
};

/** The random input of the model tests. */
function stepsOf(seed: number, fillModel: FillModelName): Step[] {
  const naive = createNaiveEngine(configOf(fillModel));
  const input = createRandomInput(
    { seed, quoteMaxAgeMs: 15_000, levels: fillModel === 'queue' },
    naive,
  );
  return Array.from({ length: STEPS }, () => {
    const step = input.next();
    if (step.on === 'tick') naive.tick(step.tick);
    else if (step.on === 'command') naive.command(step.command);
    return step;
  });
}

function play(engine: MemoryEngine, steps: readonly Step[]): MemoryEngine {
  for (const step of steps) {
    if (step.on === 'tick') engine.tick(step.tick);
    else if (step.on === 'command') engine.command(step.command);
  }
  return engine;
}

function* factsOf(records: readonly MemoryRecord[]): Generator<{ fact: Fact; bytes: Buffer }> {
  for (const { payload } of records) {
    const from = new ByteReader(payload);
    while (!from.isAtEnd) {
      const start = from.at;
      const fact = readFact(from);
      yield { fact, bytes: Buffer.from(payload.subarray(start, from.at)) };
    }
  }
}

const textOf = (state: Parameters<typeof digest>[0]) => {
  const { accounts, referenceData } = digest(state);
  return JSON.stringify([accounts.map(({ line }) => line).sort(), referenceData]);
};

for (const fillModel of FILL_MODELS) {
  for (const seed of SEEDS) {
    const steps = stepsOf(seed, fillModel);
    let played: MemoryEngine | null = null;
    /** Played once: its tests change nothing of it. */
    const live = () => {
      played ??= play(createMemoryEngine(configOf(fillModel)), steps);
      return played;
    };

    test(`D3: a state that folds the facts from number 1 is the same, and writes the same bytes, ${fillModel}, seed ${seed}`, (t) => {
      // It compares the bytes that it writes with those that are there.
      t.is(textOf(live().folded()), textOf(live().state()));
    });

    test(`D3: every fact is written as its layout says, ${fillModel}, seed ${seed}`, (t) => {
      const to = new ByteWriter();
      let facts = 0;
      for (const { fact, bytes } of factsOf(live().records())) {
        to.begin();
        writeFact(to, fact);
        t.deepEqual(to.copy(), bytes, fact.kind);
        facts++;
      }
      t.true(facts > 150, `${facts} facts`);
    });

    test(`D5: one shard and two have the same facts of an account, ${fillModel}, seed ${seed}`, (t) => {
      const shards = [0, 1].map(() => createMemoryEngine(configOf(fillModel)));
      const shardOf = (account: string) => shards[Number.parseInt(account.at(-1)!, 16) % 2]!;
      for (const step of steps) {
        if (step.on === 'tick') for (const shard of shards) shard.tick(step.tick);
        if (step.on !== 'command') continue;
        const { command } = step;
        // Callers have one clock.
        for (const shard of shards) shard.tick({ kind: 'time', atMs: command.atMs });
        if ('account' in command && command.kind !== 'mark')
          shardOf(command.account).command(command);
        else for (const shard of shards) shard.command(command);
      }
      const one = byAccount([live()]);
      t.deepEqual(byAccount(shards), one);
      t.true(one.size > 2);
    });
  }
}

/** The facts of each account in their order, without the places where they lie. */
function byAccount(engines: readonly MemoryEngine[]): Map<string, object[]> {
  const found = new Map<string, object[]>();
  for (const { fact } of engines.flatMap((engine) => [...factsOf(engine.records())])) {
    if (!('account' in fact)) continue;
    const { placed: _, ...plain } = { placed: null, ...fact };
    found.set(fact.account, [...(found.get(fact.account) ?? []), plain]);
  }
  return new Map([...found].sort());
}

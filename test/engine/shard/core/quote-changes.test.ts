/** Which quotes differ from those that an asker knows. */
import test from 'ava';
import type { QuoteChangesQuery } from '../../../../engine/rules/queries.ts';
import { AWAY, CATALOG, HOME, NOON_MS, NOWHERE, quoteTick } from '../../fixtures.ts';
import { createMemoryEngine } from '../../memory-engine.ts';

const GONE = 'ins_ZZZZZZZZZZZZ';
const MAX_AGE_MS = 15_000;

type Change = [at: number, version: number, quote: { asOf: string } | null];

function start() {
  const engine = createMemoryEngine({ quoteMaxAgeMs: MAX_AGE_MS, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick());
  const ask = (instruments: string[], versions: number[], atMs = NOON_MS): Change[] => {
    const query: QuoteChangesQuery = { kind: 'quote_changes', atMs, instruments, versions };
    const reply = engine.query(query);
    return reply.ok ? JSON.parse(reply.body).changes : [];
  };
  const quoteOf = (instrumentId: string) => {
    const reply = engine.query({ kind: 'instrument_quote', atMs: NOON_MS, instrumentId });
    return reply.ok ? JSON.parse(reply.body) : null;
  };
  return { engine, ask, quoteOf };
}

test('J10: a quote that the asker does not know is answered whole, with its place', (t) => {
  const { ask, quoteOf } = start();
  const ids = [AWAY, GONE, HOME];
  const changes = ask(ids, [0, 0, 0]);
  t.deepEqual(
    changes.map(([at, , quote]) => [at, quote]),
    [
      [0, quoteOf(AWAY)],
      [1, null],
      [2, quoteOf(HOME)],
    ],
  );
  const versions = changes.map(([, version]) => version);
  t.is(new Set(versions).size, 3);
  t.deepEqual(ask(ids, versions), []);
});

test('J11: of equal quotes the version is the same, whatever shard is asked; time changes it too', (t) => {
  const [one, other] = [start(), start()];
  const versionOf = ({ ask }: typeof one, atMs = NOON_MS) => ask([AWAY], [0], atMs)[0]![1];
  const first = versionOf(one);
  t.is(versionOf(other), first);
  t.is(versionOf(one, NOON_MS + MAX_AGE_MS), first, 'asOf is no part of it');
  one.engine.tick(quoteTick({ yesBidCents: 41 }));
  t.not(versionOf(one), first);
  one.engine.tick(quoteTick());
  t.is(versionOf(one), first);
  t.not(versionOf(one, NOON_MS + MAX_AGE_MS + 1), first, 'it is stale');
});

test('A51: engines of one thread that took one catalog show their own quotes', (t) => {
  const [one, other] = [start(), start()];
  for (const [{ engine }, yesBidCents] of [
    [one, 30],
    [other, 35],
  ] as const) {
    engine.tick(quoteTick({ yesBidCents }));
  }
  const bidOf = ({ quoteOf }: typeof one) => quoteOf(AWAY).venues[0].yesBidCents;
  t.deepEqual([bidOf(one), bidOf(other)], [30, 35]);
});

test('J11: a version of an instrument without any listing is one, too', (t) => {
  const { ask } = start();
  const [[, version, quote]] = ask([NOWHERE], [0]) as [Change];
  t.truthy(quote);
  t.deepEqual(ask([NOWHERE], [version]), []);
});

/** The facts of a shard, as readers beside it see them. */
import test from 'ava';
import { shownFact } from '../../../engine/readers/fact.ts';
import { followFacts, type LoggedFact, readFacts } from '../../../engine/readers/read-facts.ts';
import type { Fact } from '../../../engine/rules/facts.ts';
import { tempDir } from '../shard/engine-process.ts';
import { append, openLog, recordAt } from '../shard/logged-facts.ts';

const SECTION = 'D30, D31, K60, reading facts';
const RECORDS = 45;
const SOURCE = { shard: 0 };

/** What a reader keeps of a fact, with the names that it has then. */
function seen({ number, fact, names }: LoggedFact) {
  if (!('market' in fact)) return { number, kind: fact.kind };
  const { ticker } = names.market(fact.market);
  const instrument = 'instrument' in fact ? names.instrument(fact.instrument) : null;
  return { number, kind: fact.kind, ticker, instrument };
}

function expectedOf(facts: readonly Fact[]) {
  return facts.map((fact, at) => {
    const common = { number: at + 1, kind: fact.kind };
    if (!('market' in fact)) return common;
    const instrument = 'instrument' in fact ? `instrument-${fact.instrument}` : null;
    return { ...common, ticker: `M/${fact.market}`, instrument };
  });
}

/** A log of many segments, and the facts in it. */
function filled(dataDir: string, records = RECORDS): Fact[] {
  const log = openLog(dataDir, 0, 1500);
  const facts = Array.from({ length: records }, (_, at) => recordAt(at));
  for (const record of facts) append(log, record);
  log.close();
  return facts.flat();
}

test(`${SECTION}: from any number on, each with the names of the catalog before it`, (t) => {
  const dataDir = tempDir(t);
  const expected = expectedOf(filled(dataDir));
  for (let after = 0; after <= expected.length + 1; after++) {
    const read = [...readFacts({ ...SOURCE, dataDir }, after, 5)].map(seen);
    t.deepEqual(read, expected.slice(after, after + 5), `after ${after}`);
  }
  t.deepEqual([...readFacts({ ...SOURCE, dataDir }, 0)].map(seen), expected);
});

test(`${SECTION}: followers go on with what is written later, each from its own place`, async (t) => {
  const dataDir = tempDir(t);
  const log = openLog(dataDir, 0, 1500);
  const stop = new AbortController();
  const follow = async (after: number, until: number) => {
    const read = [];
    for await (const fact of followFacts({ ...SOURCE, dataDir }, after, stop)) {
      read.push(seen(fact));
      if (fact.number === until) break;
    }
    return read;
  };
  const facts = Array.from({ length: RECORDS }, (_, at) => recordAt(at)).flat();
  const followers = [follow(0, facts.length), follow(17, facts.length)];
  for (let at = 0; at < RECORDS; at++) {
    append(log, recordAt(at));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const [all, later] = await Promise.all(followers);
  t.deepEqual(all, expectedOf(facts));
  t.deepEqual(later, expectedOf(facts).slice(17));
  const waits = follow(facts.length, -1);
  stop.abort();
  t.deepEqual(await waits, []);
  log.close();
});

test(`${SECTION}: a shard that is not there yet has none, and then it has`, async (t) => {
  const dataDir = tempDir(t);
  t.deepEqual([...readFacts({ ...SOURCE, dataDir }, 0)], []);
  const stop = new AbortController();
  const followed = followFacts({ ...SOURCE, dataDir }, 0, stop).next();
  filled(dataDir, 1);
  t.deepEqual(seen((await followed).value as LoggedFact), { number: 1, kind: 'catalog_replaced' });
  stop.abort();
});

test('U11: a printed fact has names and times, and no number of a market or a place', (t) => {
  const dataDir = tempDir(t);
  filled(dataDir);
  const shown = [...readFacts({ ...SOURCE, dataDir }, 0)].map(shownFact);
  t.deepEqual(shown.slice(0, 1), [
    {
      shard: 0,
      seq: 1,
      at: '2026-11-22T00:00:00.000Z',
      kind: 'catalog_replaced',
      games: [],
      instruments: [],
    },
  ]);
  for (const { seq, kind, market, instrument, venue, fillVenue, ...fact } of shown) {
    if (market !== undefined) t.regex(market as string, /^M\/\d$/, `${seq}`);
    if (instrument !== undefined) t.regex(instrument as string, /^instrument-\d$/, `${seq}`);
    for (const named of [venue, fillVenue]) {
      if (named != null) t.regex(named as string, /^venue_[abc]/, `${seq} ${kind}`);
    }
    const inner = Object.keys(fact).filter((field) => /Ms$|^placed$|^catalog$/.test(field));
    t.deepEqual(inner, [], kind);
  }
});

/** The file of retired instruments: what is found in it, over restarts and crashes. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { PastInstruments } from '../../../api/catalog/past-instruments.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { sampleCatalog } from '../samples.ts';

const { games, instruments } = sampleCatalog();
const [first, second] = instruments;
const game = games.find(({ slug }) => slug === first!.gameSlug)!;

test('K59: a retired instrument and its game are read from the file, by id and by slug, also later', (t) => {
  const file = path.join(tempDir(t), 'retired.jsonl');
  const past = new PastInstruments(file);
  t.is(past.instrument(first!.id), undefined);
  past.retire({ games }, [first!, second!]);
  past.retire({ games }, [first!]);
  const again = new PastInstruments(file);
  for (const known of [past, again]) {
    t.is(known.count, 2);
    for (const ref of [first!.id, first!.slug]) {
      t.deepEqual(known.instrument(ref), { retired: true, instrument: first!, game } as never);
    }
    t.is(known.instrument(second!.slug)?.instrument.id, second!.id);
    for (const ref of [game.id, game.slug]) t.deepEqual(known.game(ref), game);
    t.is(known.game('none'), undefined);
    t.is(known.instrument('none'), undefined);
    t.deepEqual(
      [...known.having(first!.slug)].map(({ instrument }) => instrument.id),
      [first!.id],
    );
    known.close();
  }
});

test('K59: thousands of lines, longer than what is read at once, are found each', (t) => {
  const file = path.join(tempDir(t), 'retired.jsonl');
  const past = new PastInstruments(file);
  const many = Array.from({ length: 1200 }, (_, at) => ({
    ...first!,
    ...{ id: `ins_${String(at).padStart(12, '0')}`, slug: `slug-${at}` },
    label: 'é'.repeat(at % 7 === 0 ? 6000 : 30),
  }));
  past.retire({ games: [] }, many);
  const again = new PastInstruments(file);
  t.is(again.count, 1200);
  for (const at of [0, 1, 7, 699, 1199]) {
    t.deepEqual(again.instrument(`slug-${at}`)?.instrument, many[at]);
    t.is(again.instrument(many[at]!.id)?.game, null);
  }
  again.close();
});

test('K56: since when an instrument is over is known after a restart, and a part of a line is not', (t) => {
  const file = path.join(tempDir(t), 'retired.jsonl');
  const past = new PastInstruments(file);
  t.deepEqual(past.due([first!], 0), []);
  past.close();
  const whole = readFileSync(file, 'utf8');
  appendFileSync(file, '{"retired":true,"instrument":{"id":"ins_');
  const again = new PastInstruments(file);
  t.is(readFileSync(file, 'utf8'), whole);
  t.deepEqual(again.due([first!], 48 * 3_600_000 - 1), []);
  t.deepEqual(again.due([first!], 48 * 3_600_000), [first]);
  again.retire({ games }, [first!]);
  t.is(again.instrument(first!.id)?.instrument.id, first!.id);
  t.deepEqual(again.due([first!], 0), [first!], 'it goes until its list lacks it');
  again.close();
  writeFileSync(file, `${whole}nonsense\n${whole}`);
  t.throws(() => new PastInstruments(file), { message: /line 2 is not JSON/ });
});

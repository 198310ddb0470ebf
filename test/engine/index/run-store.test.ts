import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { open } from 'lmdb';
import { INDEX_CLASS } from '../../../engine/index/entry.ts';
import { type IndexHead, RecordIndex } from '../../../engine/index/record-index.ts';
import { type PieceKey, runStoreOf } from '../../../engine/index/run-store.ts';
import { STEP_BYTES_MAX } from '../../../engine/index/run-writer.ts';
import { randomOf, SEED } from './index-model.ts';

test('D40, D41: runs in LMDB, written by its own thread, come back after a start', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-index-'));
  const root = open({ path: directory, encoding: 'binary', noSync: true });
  const table = root.openDB<Buffer, PieceKey>({ name: 'runs', encoding: 'binary' });
  let bytes = 0;
  const store = runStoreOf(table, {
    put(run, piece, value) {
      bytes += value.length;
      void table.put([run, piece], Buffer.from(value.buffer));
    },
    remove: (run, piece) => void table.remove([run, piece]),
  });
  const random = randomOf(1);
  const word = () => random(2 ** 32);
  const keys: [account: number, w0: number, w1: number, w2: number, w3: number][] = [];
  const index = new RecordIndex(store, SEED);
  let head: IndexHead | null = null;
  for (let seals = 0; seals < 20; seals++) {
    for (let count = 0; count < 700; count++) {
      const name = [word(), word(), word(), word()] as const;
      const place = keys.push([seals % 3, ...name]);
      index.add(seals % 3, INDEX_CLASS.key, ...name, place, seals);
      index.add(5, INDEX_CLASS.tradeClosed, place, 0, 0, 0, place, seals);
    }
    const seal = index.beginSeal();
    for (let done: boolean | undefined = false; done !== true; ) {
      bytes = 0;
      ({ done } = seal.write.next());
      t.true(bytes <= STEP_BYTES_MAX);
    }
    ({ head } = seal);
    await root.flushed;
    index.endSeal();
  }
  t.true(head!.runs.some(({ level }) => level === 1));

  const again = new RecordIndex(store, [0, 0, 0, 0]);
  again.load(head!);
  for (const [at, [account, ...name]] of keys.entries()) {
    const found = again.find(account, INDEX_CLASS.key, ...name);
    if (found.length !== 1 || found[0]!.record !== at + 1) t.fail(`key ${at} is not found`);
  }
  const listed = [...again.newestFirst(5, [INDEX_CLASS.tradeClosed], null)];
  t.deepEqual(
    listed.map(({ w0 }) => w0),
    keys.map((_, at) => keys.length - at),
  );
  t.deepEqual(
    [...again.problems()].filter((problem) => problem !== null),
    [],
  );
  await root.close();
  rmSync(directory, { recursive: true });
});

/** Two faults of a cluster of processes; test:long plays ten, and `npm run jepsen` any number. */
import test from 'ava';
import { etcdProgram } from '../../bench/lib/etcd.ts';
import { playFaults } from './cluster/faults.ts';
import { tempDir } from './server.ts';

const etcdTest = etcdProgram === null ? test.skip : test.serial;

etcdTest(
  'N105, N111, N112, N151: a killed leader and one that is cut off lose no order, and nobody reads back in time',
  async (t) => {
    t.timeout(300_000);
    const faults = ['kill leader', 'cut leader'] as const;
    const outcome = await playFaults(tempDir(t), { faults, seed: 5, shards: 1, callers: 2 });
    t.deepEqual(outcome.breaches, []);
    t.is(outcome.played.length, faults.length);
    // The rules above mean something only where there was something to lose.
    t.true(outcome.acknowledged >= 40, `${outcome.acknowledged} orders`);
    t.true((outcome.counts['events 200'] ?? 0) >= 40, 'events were read');
    t.true((outcome.counts.not_leader ?? 0) > 0, 'another node was asked first');
    t.is(outcome.results, faults.length);
  },
);

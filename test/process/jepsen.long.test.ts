/** Ten faults of a cluster of processes, one of each kind, with a shard on each of two nodes at times. */
import test from 'ava';
import { etcdProgram } from '../../bench/lib/etcd.ts';
import { FAULTS, playFaults } from './cluster/faults.ts';
import { tempDir } from './server.ts';

const FAULTS_PLAYED = 10;
const etcdTest = etcdProgram === null ? test.skip : test.serial;

etcdTest(
  'ten kinds of faults lose no order of a cluster, and nobody reads back in time',
  async (t) => {
    t.timeout(600_000);
    const faults = FAULTS.slice(-FAULTS_PLAYED);
    const outcome = await playFaults(tempDir(t), { faults, seed: 6, shards: 2, callers: 4 });
    t.log(outcome.played.map(({ fault, gapMs }) => `${fault} ${Math.round(gapMs)} ms`).join(', '));
    t.deepEqual(outcome.breaches, []);
    t.is(outcome.played.length, FAULTS_PLAYED);
  },
);

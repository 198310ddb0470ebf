/** How the logs of shards are followed when one of them is damaged. */
import test from 'ava';
import { LogDamage } from '../../../../engine/log/log-format.ts';
import { Follower } from '../../../../engine/records/projection/follower.ts';
import type { RecordsModel } from '../../../../engine/records/projection/model.ts';

test('Y7: if the log of one shard is damaged, it is named, and the others are read on', (t) => {
  const read: number[] = [];
  const model = {
    advance: (shard: number) => {
      if (shard === 0) throw new LogDamage('facts.log', 12, 'its checksum is wrong');
      read.push(shard);
      return false;
    },
  } as unknown as RecordsModel;
  const follower = new Follower(model, 3);
  for (let steps = 0; steps < 3; steps++) t.false(follower.step());
  t.deepEqual(read.sort(), [1, 1, 1, 2, 2, 2]);
  t.is(follower.problems().length, 1);
  t.regex(follower.problems()[0]!, /^records: shard 0 is read no further: facts\.log is damaged/);
});

import { playFiles } from '../room.ts';

await playFiles(
  'test/engine/shard',
  'test/engine/readers',
  'test/engine/verify',
  'test/bench',
  'test/replay',
);

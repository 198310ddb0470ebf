import { playFiles } from '../room.ts';

await playFiles(
  'test/process/*command*.test.ts',
  'test/process/admin-feeds.test.ts',
  'test/process/catalog.test.ts',
  'test/process/completion.test.ts',
  'test/process/trader-records.test.ts',
  'test/process/upkeep.test.ts',
  'test/process/refusals.test.ts',
);

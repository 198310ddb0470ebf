import { playFiles } from '../room.ts';

await playFiles(
  'test/process/admin-commands.test.ts',
  'test/process/[b-z]*command*.test.ts',
  'test/process/commands.test.ts',
  'test/process/admin-feeds.test.ts',
  'test/process/catalog.test.ts',
  'test/process/completion.test.ts',
  'test/process/data-dir.test.ts',
  'test/process/disk.test.ts',
  'test/process/limits.test.ts',
  'test/process/nginx.test.ts',
  'test/process/refusals.test.ts',
  'test/process/secrets.test.ts',
  'test/process/trader-records.test.ts',
  'test/process/upkeep.test.ts',
  'test/process/verify.test.ts',
  // They share a demo, which ticks until the room ends.
  'test/process/account-commands.test.ts',
  'test/process/client-examples.test.ts',
);

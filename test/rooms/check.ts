import { playFiles } from '../room.ts';

await playFiles(
  'test/check.test.ts',
  'test/docs.test.ts',
  'test/layering.test.ts',
  'test/lock-file.test.ts',
  'test/rules.test.ts',
);

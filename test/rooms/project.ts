import { playFiles } from '../room.ts';

await playFiles(
  'test/docs.test.ts',
  'test/layering.test.ts',
  'test/lock-file.test.ts',
  'test/mutation',
  'test/rules.test.ts',
);

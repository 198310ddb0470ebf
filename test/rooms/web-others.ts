import { playFiles } from '../room.ts';

await playFiles(
  'test/api/web/[o-q]*.test.ts',
  'test/api/web/[s-z]*.test.ts',
  'test/api/web/random-id.test.ts',
  'test/api/web/record-check.test.ts',
);

import { playFiles } from '../room.ts';

await playFiles(
  'test/process/npm.test.ts',
  'test/process/pack.test.ts',
  'test/process/demo.test.ts',
  'test/process/start.test.ts',
  'test/api/identity',
  'test/api/dispatch',
);

import { playFiles } from '../room.ts';

await playFiles(
  'test/process/data-dir.test.ts',
  'test/process/disk.test.ts',
  'test/process/limits.test.ts',
  'test/process/verify.test.ts',
  'test/process/client-examples.test.ts',
  'test/process/nginx.test.ts',
  'test/process/secrets.test.ts',
);

import { playFiles } from '../room.ts';

await playFiles(
  'test/process/client-examples.test.ts',
  'test/process/nginx.test.ts',
  'test/process/secrets.test.ts',
);

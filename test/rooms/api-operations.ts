import { playFiles } from '../room.ts';

await playFiles(
  'test/api/operations',
  'test/api/openapi',
  'test/api/identity',
  'test/api/dispatch',
);

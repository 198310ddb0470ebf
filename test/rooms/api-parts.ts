import { playFiles } from '../room.ts';

await playFiles(
  'test/api/base',
  'test/api/catalog',
  'test/api/cli',
  'test/api/client',
  'test/api/config',
  'test/api/data-dir',
  'test/api/deploy',
  'test/api/fidelity',
  'test/api/http',
  'test/api/limits',
  'test/api/mcp',
  'test/api/pack',
  'test/api/page',
  'test/api/schemas',
  'test/api/stream',
  'test/api/venue-api',
);

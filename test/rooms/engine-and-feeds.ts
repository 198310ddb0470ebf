import { playFiles } from '../room.ts';

await playFiles(
  'test/engine/rules',
  'test/model',
  'test/feeds',
  'test/mutation',
  'test/engine/base',
  'test/engine/memory',
  'test/engine/format',
  'test/engine/index',
  'test/engine/log',
  'test/engine/lmdb',
  'test/engine/ring',
  'test/engine/replication',
  'test/engine/threads',
  'test/engine/audit',
  'test/engine/records',
  'test/engine/equity',
  'test/engine/history',
  'test/engine/backtest',
);

import { playFiles } from '../room.ts';

await playFiles('test/api/market-data', 'test/api/read-side', 'test/api/ops', 'test/api/listeners');

import { playFiles } from '../room.ts';

await playFiles('test/api/stream', 'test/api/client');

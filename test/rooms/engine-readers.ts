import { playFiles } from '../room.ts';

await playFiles('test/engine/records', 'test/engine/equity', 'test/engine/history');

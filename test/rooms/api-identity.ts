import { playFiles } from '../room.ts';

await playFiles('test/api/identity', 'test/api/dispatch');

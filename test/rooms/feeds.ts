import { playFiles } from '../room.ts';

await playFiles('test/feeds');

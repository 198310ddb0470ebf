import { playFiles } from '../room.ts';

await playFiles('test/fuzz', 'test/simulation', 'test/bench', 'test/replay');

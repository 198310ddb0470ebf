import { playFiles } from '../room.ts';

await playFiles('test/check.test.ts');

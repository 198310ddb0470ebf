import { playFiles } from '../room.ts';

await playFiles('test/**/*.long.test.ts');

import { playFiles } from '../room.ts';

await playFiles('test/api/web/[a-n]*.test.ts');

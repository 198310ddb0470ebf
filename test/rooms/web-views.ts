/** One demo and one browser for all of them. Two rooms, since a browser waits while it paints. */
import { playFiles } from '../room.ts';

await playFiles('test/api/web/[a-n]*.test.ts', 'test/api/web/o[pr]*.test.ts');

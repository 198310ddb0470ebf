/** The views of records, which have a server of their own. */
import { playFiles } from '../room.ts';

await playFiles('test/api/web/rec*.test.ts');

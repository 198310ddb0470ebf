/** The other views: `outages` ends their demo and starts it again; records have a server of their own. */
import { playFiles } from '../room.ts';

await playFiles('test/api/web/ou*.test.ts', 'test/api/web/[p-z]*.test.ts');

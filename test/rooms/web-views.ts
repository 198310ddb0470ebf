/** The other views: one demo and one browser. Two rooms, since a browser waits while it paints. */
import { playFiles } from '../room.ts';

await playFiles(
  'test/api/web/[a-q]*.test.ts',
  'test/api/web/ra*.test.ts',
  'test/api/web/[s-z]*.test.ts',
);

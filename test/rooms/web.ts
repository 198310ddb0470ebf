/**
 * The page, in one browser. Records come first: they have a server of their own, which ends with
 * them. All other views share one demo.
 */
import { playFiles } from '../room.ts';

await playFiles(
  'test/api/web/rec*.test.ts',
  'test/api/web/[a-q]*.test.ts',
  'test/api/web/ra*.test.ts',
  'test/api/web/[s-z]*.test.ts',
);

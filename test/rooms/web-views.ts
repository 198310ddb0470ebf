/** One demo and one browser for all views; `outages` ends the demo and starts it again. */
import { playFiles } from '../room.ts';

await playFiles(
  'test/api/web/[a-q]*.test.ts',
  'test/api/web/[s-z]*.test.ts',
  'test/api/web/random-id.test.ts',
  'test/api/web/receipt-words.test.ts',
  'test/api/web/record-check.test.ts',
);

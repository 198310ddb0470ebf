/** By itself: its server is a day of trades, and other files share the demo. */
import { playFiles } from '../room.ts';

await playFiles('test/api/web/records.test.ts');

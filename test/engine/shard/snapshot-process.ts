/** Holds a snapshot of the shard at argv[2] until it is killed, as a backup that takes long. */
import { identityOf } from '../../../engine/shard/store/data-format.ts';
import { openSnapshot } from '../../../engine/shard/store/snapshot.ts';

const snapshot = openSnapshot(process.argv[2]!, identityOf(0))!;
process.send!(snapshot.read.readHead() === null);
setInterval(() => snapshot.read.readHead(), 1000);

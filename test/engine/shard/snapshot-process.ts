/** Holds a snapshot of the environment at argv[2] until it is killed, as a backup that takes long. */
import { openSnapshot } from '../../../engine/shard/snapshot.ts';

const snapshot = openSnapshot(process.argv[2]!)!;
process.send!(snapshot.readHead() === null);
setInterval(() => snapshot.readHead(), 1000);

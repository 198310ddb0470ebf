/**
 * The replicator as a shard's thread sees it. As a follower the thread waits for records while its
 * event loop runs. As the leader it blocks until a record is stored, as it blocks for the disk.
 * Rules N102, N105, N112, N161, N166 (engine/RULES.md).
 */
import { Bell } from '../ring/bell.ts';
import { type ChannelMemory, Endpoint } from '../ring/endpoint.ts';
import { Deposed } from '../threads/unavailable.ts';
import { Lease } from './lease.ts';
import { LogPlace } from './log-place.ts';
import { bodyOf, FRAME, frameOf, lastRecordBytes } from './replica-frames.ts';
import {
  checksumOf,
  type RecordToStore,
  readStored,
  type StoredRecord,
  writeStored,
} from './replicated-record.ts';
import { OtherLog } from './shard-replica.ts';

/** What a shard's thread and its replicator share: one pair of rings, the lease, a `LogPlace`. */
export type ReplicaMemory = {
  channel: ChannelMemory;
  lease: SharedArrayBuffer;
  place: SharedArrayBuffer;
};

export class ReplicaEnd {
  readonly #end: Endpoint;
  readonly #bell: Bell;
  readonly #lease: Lease;
  readonly #place: LogPlace;
  #isStopped = false;

  constructor({ channel, lease, place }: ReplicaMemory) {
    this.#place = new LogPlace(place);
    this.#end = new Endpoint(channel, 'shard');
    this.#bell = new Bell(channel.shardBell);
    this.#lease = new Lease(lease);
  }

  /** Begins to follow after the last fact of the shard's log and the payload of its record. */
  begin(number: number, payload: Uint8Array | null): void {
    const last = { number, checksum: payload === null ? 0 : checksumOf(payload) };
    this.#end.sendBlocking(frameOf(FRAME.begin, lastRecordBytes(last)));
  }

  /** Ends the wait for the next record: the thread ends. */
  stop(): void {
    this.#isStopped = true;
    this.#bell.ring();
  }

  /** The next record; null: this shard leads from here on. Rejects with `Deposed`, `OtherLog`. */
  async next(): Promise<StoredRecord | null> {
    while (!this.#end.isReady()) {
      this.#checkPresent();
      await this.#bell.sleepAsync(this.#hasNews);
    }
    const frame = this.#end.next();
    if (frame.type === FRAME.lead) return null;
    const body = bodyOf(frame);
    if (frame.type === FRAME.record) return readStored(body);
    throw errorOf(frame.type, body);
  }

  /** The cluster has the record on return. Throws `Deposed`. */
  append(record: RecordToStore): void {
    const checksum = checksumOf(record.payload);
    // The replicator knows the rest.
    const rest = { epoch: 0, previousChecksum: 0, checksum, parts: 0 };
    this.#ask(frameOf(FRAME.append, writeStored({ ...record, ...rest })));
  }

  /** The last fact of the shard's log, and the last one that its disk has for certain. */
  notePlace(applied: number, onDisk: number): void {
    this.#place.note(applied, onDisk);
  }

  /** After the last record: another node may lead. Throws `Deposed` if this one shall follow it. */
  release(): void {
    this.#ask(frameOf(FRAME.release));
  }

  /** Returns if this shard leads now. Throws `Deposed`. */
  confirm(): void {
    if (!this.#lease.isValid) this.#ask(frameOf(FRAME.confirm));
  }

  #ask(frame: Buffer): void {
    this.#end.sendBlocking(frame);
    while (!this.#end.isReady()) {
      this.#checkPresent();
      this.#bell.sleep(this.#hasNews);
    }
    const answer = this.#end.next();
    if (answer.type !== FRAME.done) throw errorOf(answer.type, bodyOf(answer));
  }

  #checkPresent(): void {
    if (this.#isStopped) throw new Deposed('the thread of the shard ends');
    if (this.#end.isAbandoned) throw new Deposed('the thread of the replicator has ended');
  }

  readonly #hasNews = () => this.#end.hasNews() || this.#end.isAbandoned || this.#isStopped;
}

function errorOf(type: number, body: Buffer): Error {
  const reason = body.toString();
  return type === FRAME.otherLog ? new OtherLog(reason) : new Deposed(reason);
}

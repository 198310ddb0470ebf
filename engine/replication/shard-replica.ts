/**
 * A node's part of the protocol for one log, against etcd alone: follow the records, take the lead,
 * store records as the leader, keep the lease. The log is a shard's, or that of control data. Rules
 * N102 to N113, N130 (engine/RULES.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { invariant } from '../base/invariant.ts';
import { Deposed } from '../threads/unavailable.ts';
import {
  type EtcdClient,
  EtcdFailure,
  ignoreFailure,
  type KeyValue,
  type Operation,
} from './etcd-client.ts';
import { leaseEndMs, renewalEveryMs } from './lease.ts';
import { identityKey, membersKey, readMembers } from './member-list.ts';
import {
  checksumOf,
  type Head,
  headText,
  type LastRecord,
  lastNumberOf,
  type RecordToStore,
  readHead,
  readStored,
  type StoredRecord,
  writeStored,
} from './replicated-record.ts';

/** A node as the cluster knows it, and the address that clients use. */
export type ClusterNode = { node: string; address: string };

/** How a node is part of a cluster. */
export type ClusterSettings = ClusterNode & {
  name: string;
  /** The URLs of etcd's members. */
  etcd: readonly string[];
  leaseSeconds: number;
};

export type ShardReplicaOptions = {
  etcd: EtcdClient;
  cluster: string;
  log: LogName;
  self: ClusterNode;
  leaseSeconds: number;
  /** An append or a renewal without an answer is given up after so long. */
  waitMs: number;
  /** Milliseconds of a clock that nobody sets; the same in all threads. */
  steadyMs(): number;
  /**
   * The last fact that the log of this node has. Left out: that of the last record that `take` has
   * resolved for.
   */
  applied?(): number;
  /** The lease holds until this moment of that clock; called whenever it is renewed. */
  renewed(untilMs: number): void;
  /** What is known of the cluster has changed. */
  changed(state: ReplicaState): void;
};

export type ReplicaState = {
  role: 'following' | 'leading';
  /** Null: none leads. */
  leader: ClusterNode | null;
  /** This node has applied every record of the cluster, when that was last asked. */
  isCaughtUp: boolean;
  /** Why the cluster cannot be asked now; null: it can. */
  problem: string | null;
  /** As the leader: the node that the lead moves to, and that is ready. Null: it does not move. */
  movingTo: string | null;
};

export const UNKNOWN_REPLICA: ReplicaState = {
  ...{ role: 'following', leader: null, isCaughtUp: false, problem: null, movingTo: null },
};

/** How often a follower asks for records, and how long after a failure it asks again. */
const POLL_MS = 50;
const AFTER_FAILURE_MS = 100;
const APPLIED_EVERY_MS = 5;
const RECORDS_AT_ONCE = 16;
/** etcd takes 1.5 MiB a request, in base64 or not. */
export const PART_BYTES = 2 ** 20;

/** The log of this node is not the beginning of the cluster's log. Rule N109 (engine/RULES.md). */
export class OtherLog extends Error {
  constructor(reason: string) {
    super(`this node's log does not continue the cluster's: ${reason}`);
    this.name = 'OtherLog';
  }
}

/** etcd answers, and has nothing of the cluster. Rule O44 (api/RULES.md). */
class ClusterLost extends EtcdFailure {
  constructor(cluster: string) {
    super(
      `etcd has lost the data of the cluster ${cluster}: stop every node, and run paperbook cluster ` +
        'begin on the node that has the most',
    );
  }
}

export class ShardReplica {
  readonly #options: ShardReplicaOptions;
  readonly #keys: LogKeys;
  #last: LastRecord;
  /** As a leader: the head that it has written. Null: it follows. */
  #head: Head | null = null;
  /** Null: it has none. */
  #lease: string | null = null;
  #leaseUntilMs = Number.NEGATIVE_INFINITY;
  #renewing: NodeJS.Timeout | null = null;
  #isEnded = false;
  /** Since then nobody is seen to lead; null: a node leads. */
  #leaderlessSinceMs: number | null = null;
  /** The lease of the last move that this node has answered. */
  #movedBy: string | null = null;
  #state: ReplicaState = UNKNOWN_REPLICA;

  /** @param last of the log of this node */
  constructor(options: ShardReplicaOptions, last: LastRecord) {
    this.#options = options;
    this.#keys = logKeys(options.cluster, options.log);
    this.#last = last;
  }

  /**
   * Passes the records of the cluster to `take`, one after another, until this node leads the shard.
   * Rejects with `OtherLog`. It resolves with false once `end` was called.
   */
  async follow(take: (record: StoredRecord) => Promise<void>): Promise<boolean> {
    while (!this.#isEnded) {
      try {
        const look = await this.#takeRecords(take);
        if (!look.isWhole || !(await this.#isApplied())) continue;
        await this.#answerMove(look.move);
        if (look.leader === null && this.#mayLead(look.move) && (await this.#takeLead(take))) {
          return true;
        }
        await sleep(POLL_MS);
      } catch (error) {
        if (!(error instanceof EtcdFailure)) throw error;
        const lost = error instanceof ClusterLost ? { leader: null } : {};
        this.#set({ isCaughtUp: false, problem: error.message, ...lost });
        await sleep(AFTER_FAILURE_MS);
      }
    }
    return false;
  }

  /**
   * Stores the next record as the leader. One at a time. Rejects with `Deposed` if the cluster
   * refuses it, or if nobody knows for too long.
   */
  async append(record: RecordToStore): Promise<void> {
    const before = this.#head;
    invariant(before !== null, 'a record is stored by a node that does not lead');
    invariant(record.firstNumber === before.number + 1, 'a record does not follow the head');
    const checksum = checksumOf(record.payload);
    const number = lastNumberOf(record);
    const head = { epoch: before.epoch, number, checksum };
    const { epoch } = head;
    const parts = partsOf(record.payload);
    const stored = writeStored({
      ...record,
      epoch,
      checksum,
      previousChecksum: before.checksum,
      parts: parts.length,
      payload: parts.length === 0 ? record.payload : new Uint8Array(),
    });
    const first = record.firstNumber;
    for (const [part, bytes] of parts.entries()) {
      const key = this.#keys.part(epoch, first, part);
      await this.#inLead(before, before, [{ put: key, value: bytes }]);
    }
    await this.#inLead(before, head, [
      { put: this.#keys.record(first), value: stored },
      { put: this.#keys.head, value: headText(head) },
    ]);
    this.#head = head;
    this.#last = { number, checksum };
  }

  /**
   * Resolves once this node leads for certain, at a moment after the call. Rejects with `Deposed`.
   */
  async confirm(): Promise<void> {
    const giveUpMs = this.#giveUpMs();
    for (;;) {
      try {
        if (await this.#renew()) return;
        throw new Deposed('the lease has ended');
      } catch (error) {
        if (!(error instanceof EtcdFailure)) throw error;
        this.#set({ problem: error.message });
        if (this.#options.steadyMs() > giveUpMs) {
          throw new Deposed(`nobody knows of the lease: ${error.message}`);
        }
        await sleep(AFTER_FAILURE_MS);
      }
    }
  }

  get leads(): boolean {
    return this.#head !== null && this.#lease !== null;
  }

  /**
   * After the last record: another node may lead at once. Rejects with `Deposed` if the lead moves to
   * another node, which this one follows then.
   */
  async release(): Promise<void> {
    const { movingTo } = this.#state;
    await this.end();
    if (movingTo !== null) throw new Deposed(`the lead moves to ${movingTo}`);
  }

  /** Gives up the lease, so that another node may lead at once. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#giveUpLease();
  }

  /** Takes what the cluster has after the last record, up to a bound. */
  async #takeRecords(take: (record: StoredRecord) => Promise<void>): Promise<Look> {
    const { number } = this.#last;
    const { head: headKey, leader: leaderKey, record, recordsEnd, move: moveKey } = this.#keys;
    const { etcd, cluster, self } = this.#options;
    const [[headAt] = [], [leaderAt] = [], records = [], members, [move] = []] = await etcd.read([
      { range: headKey },
      { range: leaderKey },
      { range: record(number + 1), end: recordsEnd, limit: RECORDS_AT_ONCE },
      { range: membersKey(cluster) },
      { range: moveKey },
    ]);
    if (readMembers(members)?.has(self.node) === false) throw notMember(cluster);
    const head = headAt === undefined ? null : headAt.value.toString();
    if (head === null && number > 0) await this.#requireCluster();
    for (const { value } of records) {
      const stored = await this.#whole(readStored(value));
      this.#checkNext(stored);
      await take(stored);
      this.#last = { number: lastNumberOf(stored), checksum: stored.checksum };
    }
    const isWhole = records.length < RECORDS_AT_ONCE;
    if (isWhole) checkEnd(this.#last, head);
    const leader = leaderAt === undefined ? null : leaderOf(leaderAt);
    this.#leaderlessSinceMs =
      leader === null ? (this.#leaderlessSinceMs ?? this.#options.steadyMs()) : null;
    this.#set({ leader: leader?.who ?? null, problem: null });
    if (!isWhole) this.#set({ isCaughtUp: false });
    return { head, leader, isWhole, move: move ?? null };
  }

  /** Whether this node has applied what it has taken. It is waited for, but not for long. */
  async #isApplied(): Promise<boolean> {
    const { applied = () => this.#last.number } = this.#options;
    const isCaughtUp = () => applied() >= this.#last.number;
    for (let ms = 0; ms < POLL_MS && !isCaughtUp() && !this.#isEnded; ms += APPLIED_EVERY_MS) {
      await sleep(APPLIED_EVERY_MS);
    }
    this.#set({ isCaughtUp: isCaughtUp() });
    return this.#state.isCaughtUp;
  }

  /** Else a node with less than others might lead. Throws `ClusterLost`. */
  async #requireCluster(): Promise<void> {
    const { etcd, cluster } = this.#options;
    const [[identity] = []] = await etcd.read([{ range: identityKey(cluster) }]);
    if (identity === undefined) throw new ClusterLost(cluster);
  }

  /** A record with its payload, whose parts may be keys of their own. */
  async #whole(stored: StoredRecord): Promise<StoredRecord> {
    const { parts, epoch, firstNumber, checksum } = stored;
    const pieces: Uint8Array[] = [stored.payload];
    for (let part = 0; part < parts; part++) {
      const range = this.#keys.part(epoch, firstNumber, part);
      const [[piece] = []] = await this.#options.etcd.read([{ range }]);
      if (piece === undefined) throw new OtherLog(`record ${firstNumber} lacks a part there`);
      pieces.push(piece.value);
    }
    const payload = parts === 0 ? stored.payload : Buffer.concat(pieces);
    if (checksumOf(payload) !== checksum) {
      throw new OtherLog(`record ${firstNumber} does not have its checksum there`);
    }
    return { ...stored, payload };
  }

  #checkNext({ firstNumber, previousChecksum }: StoredRecord): void {
    const { number, checksum } = this.#last;
    if (firstNumber !== number + 1) throw tooOld(number);
    if (previousChecksum !== checksum) {
      throw new OtherLog(`fact ${number} and those of its record are others there`);
    }
  }

  /** While the lead moves to another node, no third one takes it. That node may be gone: rule N121. */
  #mayLead(move: KeyValue | null): boolean {
    const { self, leaseSeconds, steadyMs } = this.#options;
    if (move === null || move.value.toString() === self.node) return true;
    return steadyMs() - (this.#leaderlessSinceMs ?? steadyMs()) > leaseSeconds * 1000;
  }

  /** The leader waits until the node that it shall move to has its records. Throws `EtcdFailure`. */
  async #answerMove(move: KeyValue | null): Promise<void> {
    const { node } = this.#options.self;
    if (move === null || move.value.toString() !== node || this.#movedBy === move.lease) return;
    const { move: key, ready } = this.#keys;
    await this.#options.etcd.transact(
      [{ key, createRevision: move.createRevision }],
      [{ put: ready, value: node, lease: move.lease }],
    );
    this.#movedBy = move.lease;
  }

  /** Once the lead moves, it moves: nobody takes a request here any more. Throws `EtcdFailure`. */
  async #lookForMove(): Promise<void> {
    const { move: key, ready } = this.#keys;
    const [[move] = [], [answer] = []] = await this.#options.etcd.read([
      { range: key },
      { range: ready },
    ]);
    if (!this.leads || move === undefined || answer?.lease !== move.lease) return;
    const to = move.value.toString();
    if (to !== this.#options.self.node) this.#set({ movingTo: to });
  }

  /** Becomes the leader, unless another node does. Throws `EtcdFailure`, and tries again then. */
  async #takeLead(take: (record: StoredRecord) => Promise<void>): Promise<boolean> {
    const { etcd, self, leaseSeconds, steadyMs } = this.#options;
    const sentMs = steadyMs();
    const lease = await etcd.grant(leaseSeconds);
    this.#lease = lease;
    try {
      const { leader, move, ready } = this.#keys;
      // The answer may be lost, so the key itself says who has won. A move has come to its end.
      await etcd
        .transact(
          [{ key: leader, isAbsent: true }],
          [
            { put: leader, value: JSON.stringify(self), lease },
            { remove: move },
            { remove: ready },
          ],
        )
        .catch(ignoreFailure);
      const [[at] = []] = await etcd.read([{ range: leader }]);
      if (at?.lease === lease) {
        this.#renewed(sentMs);
        this.#renewing = setInterval(
          // A lease that has ended is noticed by what waits for it.
          () =>
            void this.#renew()
              .then(() => this.#lookForMove())
              .catch(ignoreFailure),
          renewalEveryMs(leaseSeconds),
        );
        if (await this.#rewriteHead(at.createRevision, take)) return true;
      }
    } catch (error) {
      await this.#giveUpLease();
      throw error;
    }
    await this.#giveUpLease();
    return false;
  }

  /** From its success on, the cluster refuses every record of earlier leaders. */
  async #rewriteHead(
    epoch: number,
    take: (record: StoredRecord) => Promise<void>,
  ): Promise<boolean> {
    const { head: key, leader: leaderKey } = this.#keys;
    for (;;) {
      const { head: seen, leader, isWhole } = await this.#takeRecords(take);
      if (leader?.epoch !== epoch || this.#isEnded) return false;
      if (!isWhole) continue;
      const head = { epoch, ...this.#last };
      const text = headText(head);
      if (seen !== text) {
        const compareHead = seen === null ? { key, isAbsent: true as const } : { key, value: seen };
        const compares = [{ key: leaderKey, createRevision: epoch }, compareHead];
        const { etcd } = this.#options;
        const done = await etcd.transact(compares, [{ put: key, value: text }]);
        if (!done.succeeded) continue;
      }
      this.#head = head;
      const { self } = this.#options;
      this.#set({ role: 'leading', leader: self, isCaughtUp: true, problem: null });
      return true;
    }
  }

  /**
   * Runs the operations while the head is `before` and this node leads. Without an answer it tries
   * the same again, and a head that is `after` says that an earlier try came through.
   */
  async #inLead(before: Head, after: Head, operations: readonly Operation[]): Promise<void> {
    const { etcd, steadyMs } = this.#options;
    const { head: key, leader } = this.#keys;
    const compares = [
      { key, value: headText(before) },
      { key: leader, createRevision: before.epoch },
    ];
    const giveUpMs = this.#giveUpMs();
    for (;;) {
      try {
        const { succeeded, ranges } = await etcd.transact(compares, operations, [{ range: key }]);
        this.#set({ problem: null });
        if (succeeded) return;
        const found = ranges[0]?.[0]?.value.toString() ?? 'none';
        if (before !== after && found === headText(after)) return;
        throw new Deposed(`the cluster refuses its records: the head is ${found}`);
      } catch (error) {
        if (!(error instanceof EtcdFailure)) throw error;
        this.#set({ problem: error.message });
        if (steadyMs() > giveUpMs) throw new Deposed(`nobody knows of a record: ${error.message}`);
        await sleep(AFTER_FAILURE_MS);
      }
    }
  }

  #giveUpMs(): number {
    const { steadyMs, waitMs } = this.#options;
    return steadyMs() + waitMs;
  }

  /** Renews the lease. False: it has ended. Throws `EtcdFailure`. */
  async #renew(): Promise<boolean> {
    const lease = this.#lease;
    const { etcd, steadyMs, renewed } = this.#options;
    const sentMs = steadyMs();
    if (lease === null) return false;
    const isAlive = await etcd.keepAlive(lease);
    if (this.#lease !== lease) return false;
    if (!isAlive) {
      renewed(Number.NEGATIVE_INFINITY);
      return false;
    }
    this.#renewed(sentMs);
    this.#set({ problem: null });
    return true;
  }

  #renewed(sentMs: number): void {
    const { leaseSeconds, renewed } = this.#options;
    this.#leaseUntilMs = Math.max(this.#leaseUntilMs, leaseEndMs(sentMs, leaseSeconds));
    renewed(this.#leaseUntilMs);
  }

  /** After a failure the lease ends by itself. */
  async #giveUpLease(): Promise<void> {
    if (this.#renewing !== null) clearInterval(this.#renewing);
    this.#renewing = null;
    const lease = this.#lease;
    this.#lease = null;
    this.#leaseUntilMs = Number.NEGATIVE_INFINITY;
    this.#options.renewed(Number.NEGATIVE_INFINITY);
    if (lease !== null) await this.#options.etcd.revoke(lease).catch(ignoreFailure);
  }

  #set(change: Partial<ReplicaState>): void {
    const next = { ...this.#state, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.#state)) return;
    this.#state = next;
    this.#options.changed(next);
  }
}

/** What one question found; `isWhole`: there is nothing after it. */
type Look = { head: string | null; leader: Leader | null; isWhole: boolean; move: KeyValue | null };

type Leader = { who: ClusterNode; epoch: number };

function notMember(cluster: string): Deposed {
  return new Deposed(
    `this node has left the cluster ${cluster}; paperbook cluster join makes it a member again`,
  );
}

function leaderOf({ value, createRevision }: KeyValue): Leader {
  return { who: JSON.parse(value.toString()) as ClusterNode, epoch: createRevision };
}

const tooOld = (number: number): OtherLog =>
  new OtherLog(
    `it ends with fact ${number}, and etcd no longer has the next one: stop this node, run paperbook ` +
      'cluster join with a copy of a node that has it, and start it again',
  );

/** Throws `OtherLog` unless the head names this last record; a cluster without a head has none. */
function checkEnd({ number, checksum }: LastRecord, text: string | null): void {
  if (text === null) return;
  const head = readHead(text);
  if (head.number < number) {
    throw new OtherLog(`it ends with fact ${number}, and the head there is ${head.number}`);
  }
  if (head.number > number) throw tooOld(number);
  if (head.checksum !== checksum) throw new OtherLog(`fact ${number} is another one there`);
}

function partsOf(payload: Uint8Array): Uint8Array[] {
  if (payload.length <= PART_BYTES) return [];
  const count = Math.ceil(payload.length / PART_BYTES);
  return Array.from({ length: count }, (_, part) =>
    payload.subarray(part * PART_BYTES, (part + 1) * PART_BYTES),
  );
}

/** A log of a cluster. */
export type LogName = `shard/${number}` | 'control';

/** All logs of a cluster with so many shards. */
export const logsOf = (shards: number): LogName[] => [
  ...Array.from({ length: shards }, (_, shard) => `shard/${shard}` as const),
  'control',
];

export type LogKeys = ReturnType<typeof logKeys>;

/** The keys of a shard's log. */
export const shardKeys = (cluster: string, shard: number): LogKeys =>
  logKeys(cluster, `shard/${shard}`);

/** The keys of a log; numbers have 16 digits, so that they are in order. */
export function logKeys(cluster: string, log: LogName) {
  const prefix = `paperbook/${cluster}/${log}`;
  const digits = (number: number) => String(number).padStart(16, '0');
  return {
    head: `${prefix}/head`,
    leader: `${prefix}/leader`,
    record: (first: number) => `${prefix}/record/${digits(first)}`,
    recordsEnd: `${prefix}/record/~`,
    part: (epoch: number, first: number, part: number) =>
      `${prefix}/part/${epoch}/${digits(first)}/${part}`,
    parts: `${prefix}/part/`,
    partsEnd: `${prefix}/part/~`,
    /** What the disk of a node has; without a name: where these keys begin. */
    has: (node: string) => `${prefix}/has/${node}`,
    /** The node that the lead moves to, and the same once that node is ready. */
    move: `${prefix}/move`,
    ready: `${prefix}/ready`,
    /** What nodes say to the one that leads, by name. */
    said: `${prefix}/said/`,
    saidEnd: `${prefix}/said/~`,
  };
}

/** The number of the first fact of the record that a part is of. */
export const partNumberOf = (key: string): number => Number(key.split('/').at(-2));

/**
 * Keeps etcd's part of a log small. Each node says what its own disk has. The leader deletes the
 * records that the disks of all members have, and has etcd forget what it replaced. Rules N161, N162
 * (engine/RULES.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type EtcdClient, ignoreFailure, type KeyValue } from './etcd-client.ts';
import { membersKey, readMembers, sameMembers } from './member-list.ts';
import { readHas } from './members.ts';
import { type LogKeys, type LogName, logKeys, partNumberOf } from './shard-replica.ts';

const KEEP_EVERY_MS = 5000;
const KEYS_AT_ONCE = 1000;
/** etcd takes so many operations in one transaction, unless it is set otherwise. */
const REMOVALS_AT_ONCE = 100;
/** A revision is a few hundred bytes at least; a compaction for fewer of them is not worth it. */
const REVISIONS_MIN = 100;

export type LogKeeperOptions = {
  etcd: EtcdClient;
  cluster: string;
  log: LogName;
  node: string;
  /** The number of the last fact, or control record, that the own disk has for certain. */
  onDisk(): number;
  leads(): boolean;
};

export class LogKeeper {
  readonly #options: LogKeeperOptions;
  readonly #keys: LogKeys;
  #published: number | null = null;
  #compacted = 0;

  constructor(options: LogKeeperOptions) {
    this.#options = options;
    this.#keys = logKeys(options.cluster, options.log);
  }

  /** From time to time. What fails is done the next time; a lost etcd is shown by what waits for it. */
  async keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.run().catch(ignoreFailure);
      await sleep(KEEP_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Throws `EtcdFailure`; the next call does what this one did not. */
  async run(): Promise<void> {
    const { etcd, cluster, log, node, onDisk, leads } = this.#options;
    const number = onDisk();
    if (number !== this.#published) {
      await etcd.transact([], [{ put: this.#keys.has(node), value: String(number) }]);
      this.#published = number;
    }
    if (!leads()) return;
    const { revision } = await trimLog(etcd, cluster, log);
    if (revision < this.#compacted + REVISIONS_MIN) return;
    await etcd.compact(revision);
    this.#compacted = revision;
  }
}

/** What a trim did, and why it did no more. */
export type Trimmed = {
  /** How many records and parts of records were deleted. */
  deleted: number;
  /** Every member has the facts up to this one. */
  upTo: number;
  /** Of etcd, when the last was deleted or none was left. */
  revision: number;
};

/**
 * Deletes the records that every member has. While the members change it deletes nothing. Throws
 * `EtcdFailure`.
 */
export async function trimLog(etcd: EtcdClient, cluster: string, log: LogName): Promise<Trimmed> {
  const keys = logKeys(cluster, log);
  const looked = await etcd.transact(
    [],
    [{ range: membersKey(cluster) }, { range: keys.has(''), end: keys.has('~') }],
  );
  const [found = [], has] = looked.ranges;
  const upTo = haveAll(readMembers(found)?.keys() ?? [], readHas(keys, has));
  let { revision } = looked;
  let deleted = 0;
  for (;;) {
    const { ranges } = await etcd.transact(
      [],
      [
        { range: keys.record(0), end: keys.record(upTo + 1), limit: KEYS_AT_ONCE, keysOnly: true },
        { range: keys.parts, end: keys.partsEnd, limit: KEYS_AT_ONCE, keysOnly: true },
      ],
    );
    const [records = [], parts = []] = ranges;
    const removals = removalsOf(records, parts, upTo);
    if (removals.length === 0) return { deleted, upTo, revision };
    const done = await etcd.transact([sameMembers(cluster, found)], removals);
    if (!done.succeeded) return { deleted, upTo, revision };
    deleted += done.removed;
    revision = done.revision;
  }
}

/** The last fact that all of the nodes have; a node that has said nothing has none. */
function haveAll(nodes: Iterable<string>, has: ReadonlyMap<string, number>): number {
  const each = [...nodes].map((node) => has.get(node) ?? 0);
  return each.length === 0 ? 0 : Math.min(...each);
}

/** Records in one piece; parts by themselves, since those of other epochs are in between. */
function removalsOf(records: readonly KeyValue[], parts: readonly KeyValue[], upTo: number) {
  const old = parts.filter(({ key }) => partNumberOf(key) <= upTo).slice(0, REMOVALS_AT_ONCE);
  const removals: { remove: string; end?: string }[] = old.map(({ key }) => ({ remove: key }));
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined || last === undefined) return removals;
  // The next key after the last one.
  return [...removals, { remove: first.key, end: `${last.key}\0` }];
}

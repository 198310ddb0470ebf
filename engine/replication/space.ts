/**
 * How much of its space etcd uses, and how it gets room again. Without room it stores nothing more.
 * Rules N164, N165 (engine/RULES.md).
 */
import { EtcdClient } from './etcd-client.ts';
import { trimLog } from './log-keeper.ts';
import { logsOf } from './shard-replica.ts';

/** Of the fullest member. */
export type Space = {
  /** Bytes of its file. It may have no more than the quota; etcd never makes it smaller itself. */
  fileBytes: number;
  /** Of those, the bytes that are not free for new values. */
  usedBytes: number;
  quotaBytes: number;
  /** It stores nothing more until it is told to. */
  isRefusing: boolean;
};

/** A defragmentation is worth it above this part of the quota. */
const LARGE = 0.5;
/** A member writes its whole file, and other members wait if it leads. */
const DEFRAGMENT_MAX_MS = 120_000;

/** Members that do not answer are left out. Throws `EtcdFailure` if none answers. */
export async function spaceOf(urls: readonly string[]): Promise<Space> {
  const tries = await Promise.allSettled(urls.map((url) => withMember(url, spaceOfMember)));
  const found = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const fullest = found.sort((a, b) => b.fileBytes / b.quotaBytes - a.fileBytes / a.quotaBytes)[0];
  if (fullest !== undefined) return fullest;
  throw (tries[0] as PromiseRejectedResult).reason;
}

async function spaceOfMember(etcd: EtcdClient): Promise<Space> {
  const [size, quotaBytes, isRefusing] = await Promise.all([
    etcd.size(),
    etcd.quotaBytes(),
    etcd.isOutOfSpace(),
  ]);
  return { ...size, quotaBytes, isRefusing };
}

/** `deleted`: records and parts. `upTo`: by shard, the last fact that every member has. */
export type RoomMade = { deleted: number; upTo: number[]; defragmented: number };

/**
 * Deletes what every member has, has etcd forget it, and writes the files of members without their
 * free space if they are large and half of them is free. Then etcd stores again. Throws `EtcdFailure`.
 */
export async function makeRoom(
  urls: readonly string[],
  cluster: string,
  shards: number,
): Promise<RoomMade> {
  const made: RoomMade = { deleted: 0, upTo: [], defragmented: 0 };
  const etcd = new EtcdClient(urls);
  try {
    let last = 0;
    for (const log of logsOf(shards)) {
      const { deleted, upTo, revision } = await trimLog(etcd, cluster, log);
      made.deleted += deleted;
      if (log !== 'control') made.upTo.push(upTo);
      last = revision;
    }
    await etcd.compact(last);
    // One after another, so that the others answer meanwhile.
    for (const url of urls) {
      const space = await withMember(url, spaceOfMember);
      const isWorth =
        space.usedBytes < space.fileBytes / 2 && space.fileBytes > space.quotaBytes * LARGE;
      if (!isWorth && !space.isRefusing) continue;
      await withMember(url, (member) => member.defragment(), DEFRAGMENT_MAX_MS);
      made.defragmented++;
    }
    await etcd.disarm();
    return made;
  } finally {
    etcd.close();
  }
}

async function withMember<Found>(
  url: string,
  ask: (member: EtcdClient) => Promise<Found>,
  timeoutMs?: number,
): Promise<Found> {
  const member = new EtcdClient([url], timeoutMs);
  try {
    return await ask(member);
  } finally {
    member.close();
  }
}

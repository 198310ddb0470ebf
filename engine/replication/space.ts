/**
 * How much of its space etcd uses, and how it gets room again. Without room it stores nothing more.
 * Rules N164, N165 (engine/RULES.md).
 */
import { EtcdClient, EtcdFailure } from './etcd-client.ts';
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

/** `silent`: of each member that does not answer, its address and why. */
export type EtcdSpace = Space & { silent: readonly string[] };

/** A defragmentation is worth it above this part of the quota. */
const LARGE = 0.5;
/** A member writes its whole file, and other members wait if it leads. */
const DEFRAGMENT_MAX_MS = 120_000;

/** Throws `EtcdFailure` if no member answers. */
export async function spaceOf(urls: readonly string[]): Promise<EtcdSpace> {
  const tries = await Promise.allSettled(urls.map((url) => withMember(url, spaceOfMember)));
  const found = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const fullest = found.sort((a, b) => b.fileBytes / b.quotaBytes - a.fileBytes / a.quotaBytes)[0];
  const failures = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const other = failures.find((reason) => !(reason instanceof EtcdFailure));
  if (fullest === undefined || other !== undefined) throw other ?? failures[0];
  return { ...fullest, silent: failures.map((failure: EtcdFailure) => failure.message) };
}

async function spaceOfMember(etcd: EtcdClient): Promise<Space> {
  const [size, quotaBytes, isRefusing] = await Promise.all([
    etcd.size(),
    etcd.quotaBytes(),
    etcd.isOutOfSpace(),
  ]);
  return { ...size, quotaBytes, isRefusing };
}

/**
 * `deleted`: records and parts. `upTo`: by shard, the last fact that every member has. `silent`: of
 * each member of etcd that was left out, its address and why.
 */
export type RoomMade = {
  deleted: number;
  upTo: number[];
  defragmented: number;
  silent: string[];
};

/**
 * Deletes what every member has, has etcd forget it, and writes the files of members without their
 * free space if they are large and half of them is free. Then etcd stores again. Members that do not
 * answer are left out. Throws `EtcdFailure`.
 */
export async function makeRoom(
  urls: readonly string[],
  cluster: string,
  shards: number,
): Promise<RoomMade> {
  const made: RoomMade = { deleted: 0, upTo: [], defragmented: 0, silent: [] };
  const etcd = new EtcdClient(urls);
  try {
    await etcd.reach();
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
      const space = await withMember(url, spaceOfMember).catch((error: unknown) => {
        if (!(error instanceof EtcdFailure)) throw error;
        made.silent.push(error.message);
        return null;
      });
      if (space === null) continue;
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

/** The keys of a whole cluster, and who its members are. Rule N160 (engine/RULES.md). */
import type { Compare, KeyValue } from './etcd-client.ts';

/** By the name of the node: the address that clients use. */
export type Members = ReadonlyMap<string, string>;

/** What a cluster is of. Rule N110 (engine/RULES.md). */
export const identityKey = (cluster: string): string => `paperbook/${cluster}/identity`;

/** One key, so that a transaction can say that none has come or gone. */
export const membersKey = (cluster: string): string => `paperbook/${cluster}/members`;

/** Of what a range over the key found. Null: the cluster has never had a member. */
export function readMembers([at]: readonly KeyValue[] = []): Members | null {
  if (at === undefined) return null;
  return new Map(Object.entries(JSON.parse(at.value.toString()) as Record<string, string>));
}

export const membersText = (members: Members): string =>
  JSON.stringify(Object.fromEntries(members));

/** Holds until the members change, also if one is added again. */
export function sameMembers(cluster: string, [at]: readonly KeyValue[] = []): Compare {
  const key = membersKey(cluster);
  return at === undefined ? { key, isAbsent: true } : { key, modRevision: at.modRevision };
}

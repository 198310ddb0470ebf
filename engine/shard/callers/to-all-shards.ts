/** Messages to all shards, and their replies. Rules D11, T140, T141 (engine/RULES.md). */
import type { Command, Reply, SettleMarket, TagTrade } from '../../rules/messages.ts';
import type { Query } from '../../rules/queries.ts';
import { Unavailable } from '../../threads/unavailable.ts';
import { sumOfSettled } from './merge-reports.ts';
import type { ShardClient } from './shard-client.ts';

type Clients = readonly ShardClient[];

/** The answer of each shard. Throws if one refuses or is down. */
export function askAll(clients: Clients, request: Command | Query): Promise<string[]> {
  const asked = clients.map(async (client) => {
    const reply = await client.call(request);
    if (reply.ok) return reply.body;
    throw new Error(`${request.kind}: ${reply.message}`);
  });
  return Promise.all(asked);
}

/** The answer of each shard; null if it refuses or is down. */
export function eachOr(clients: Clients, request: Query): Promise<(string | null)[]> {
  const asked = clients.map(async (client) => {
    const reply = await client.call(request).catch(() => null);
    return reply?.ok === true ? reply.body : null;
  });
  return Promise.all(asked);
}

/**
 * Sends a command that no shard refuses. Whether every shard has it; a shard that is down gets it
 * at its next start.
 */
export async function sendToAll(clients: Clients, command: Command): Promise<boolean> {
  const replies = await repliesOf(clients, command);
  for (const reply of replies) {
    if (reply?.ok === false) throw new Error(`${command.kind}: ${reply.message}`);
  }
  return !replies.includes(null);
}

/**
 * Settles a market in every shard. Throws `Unavailable` if one is down; then the caller may ask
 * again.
 */
export async function settleInAll(clients: Clients, command: SettleMarket): Promise<Reply> {
  const replies = await repliesOf(clients, command);
  const texts: string[] = [];
  for (const reply of replies) {
    if (reply === null) throw new Unavailable('a shard did not take the result: ask again');
    if (!reply.ok) return reply;
    texts.push(reply.body);
  }
  return { ok: true, body: sumOfSettled(texts) };
}

/** Settles a market in the shards that are up; another one gets it at its next start. */
export async function settleInOpen(clients: Clients, command: SettleMarket): Promise<Reply> {
  const replies = await repliesOf(clients, command);
  const taken = replies.filter((reply) => reply !== null);
  const refused = taken.find(({ ok }) => !ok);
  return (
    refused ?? { ok: true, body: sumOfSettled(taken.map((reply) => (reply.ok ? reply.body : ''))) }
  );
}

/** Tags a trade in the one shard that has it. Throws `Unavailable` if one is down. */
export async function tagInOne(clients: Clients, command: TagTrade): Promise<Reply> {
  const replies = await repliesOf(clients, command);
  if (replies.includes(null)) throw new Unavailable('a shard did not take the mark: ask again');
  return replies.find((reply) => reply?.ok) ?? replies[0]!;
}

/** Null: the shard is down. */
function repliesOf(clients: Clients, command: Command): Promise<(Reply | null)[]> {
  return Promise.all(clients.map((client) => client.deliver(command)));
}

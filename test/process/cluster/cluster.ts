/**
 * Three servers as the nodes of a cluster, and three members of etcd, all on loopback. Links between
 * them may be cut. The nodes trade on the same simulated venues.
 */
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RealEtcd } from '../../../bench/lib/etcd.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { freePorts } from '../../../bench/lib/free-ports.ts';
import { clusterStatus } from '../../../engine/replication/cluster.ts';
import { EtcdClient } from '../../../engine/replication/etcd-client.ts';
import { moveLead } from '../../../engine/replication/move-lead.ts';
import { ask, type Json } from '../client.ts';
import { Command, type Env, LISTENS, startServer } from '../server.ts';
import { startVenues, type Venues } from '../venues.ts';
import { Link } from './link.ts';

/** So many members and nodes: one of each may fail. */
export const NODES = 3;
const NAME = 'faults';
const SET_CLOCK = new URL('set-clock.js', import.meta.url);
const WIDE = { newPerMinute: 1e6, newPerDay: 1e9, closingPerMinute: 1e6 };

export type ClusterUser = { name: string; token: string };

type Node = {
  dataDir: string;
  /** As its clients reach it. */
  baseUrl: string;
  adminUrl: string;
  env: Env;
  /** Each to a member of etcd. */
  links: Link[];
  clockFile: string;
  /** Null: it does not run. */
  command: Command | null;
  /** What its ended processes have said. */
  said: string;
};

export class Cluster {
  readonly users: readonly ClusterUser[];
  readonly nodes: Node[] = [];
  readonly venues: Venues;
  readonly #etcd: RealEtcd;
  readonly #client: EtcdClient;
  /** Each to a member, from the others. */
  readonly #peerLinks: Link[];
  /** As members name themselves to each other. */
  #memberIds: string[] = [];

  private constructor(
    venues: Venues,
    users: readonly ClusterUser[],
    etcd: RealEtcd,
    peerLinks: Link[],
  ) {
    this.venues = venues;
    this.users = users;
    this.#etcd = etcd;
    this.#peerLinks = peerLinks;
    this.#client = new EtcdClient(etcd.urls);
  }

  /** As the README says: one server makes users and the catalog, and each node gets a copy. */
  static async start(
    dir: string,
    { seed, shards, users: count }: { seed: number; shards: number; users: number },
  ): Promise<Cluster> {
    const venues = await startVenues(dir, seed);
    const dirOf = (at: number) => path.join(dir, `node-${at}`);
    const env = { ...venues.env, PAPERBOOK_SHARDS: String(shards), PAPERBOOK_DURABILITY: 'commit' };
    const users = await makeUsers(dirOf(0), env, count);
    const secretFile = path.join(dir, 'secret');
    writeFileSync(secretFile, 'of the nodes of this test');
    const peerLinks: Link[] = [];
    const etcd = await RealEtcd.start(NODES, {}, async (port, at) => {
      const link = await Link.to(port);
      peerLinks[at] = link;
      return link.port;
    });
    const cluster = new Cluster(venues, users, etcd, peerLinks);
    cluster.#memberIds = await Promise.all(etcd.urls.map(memberIdOf));
    const ports = await freePorts(2 * NODES);
    for (let at = 0; at < NODES; at++) {
      if (at > 0) cpSync(dirOf(0), dirOf(at), { recursive: true });
      const links = await Promise.all(etcd.urls.map((url) => Link.to(Number(new URL(url).port))));
      const address = `http://127.0.0.1:${ports[2 * at]}`;
      const clockFile = path.join(dir, `clock-${at}`);
      writeFileSync(clockFile, '0');
      const settings = {
        ...{ name: NAME, node: `n${at}`, address, secretFile },
        etcd: links.map(({ port }) => `http://127.0.0.1:${port}`),
      };
      cluster.nodes.push({
        dataDir: dirOf(at),
        baseUrl: `${address}/v1`,
        adminUrl: `http://127.0.0.1:${ports[2 * at + 1]}`,
        ...{ links, clockFile, command: null, said: '' },
        env: {
          ...env,
          PAPERBOOK_DATA_DIR: dirOf(at),
          PAPERBOOK_PORT: String(ports[2 * at]),
          PAPERBOOK_ADMIN_PORT: String(ports[2 * at + 1]),
          PAPERBOOK_CLUSTER: JSON.stringify(settings),
          SET_CLOCK_FILE: clockFile,
        },
      });
    }
    await Promise.all(cluster.nodes.map((_, at) => cluster.runNode(at)));
    return cluster;
  }

  /** The token of the admin listener, which is in every copy of the first directory. */
  get adminToken(): string {
    return readFileSync(path.join(this.nodes[0]!.dataDir, 'admin.token'), 'utf8').trim();
  }

  /** Starts a node that does not run, and resolves once it listens. */
  async runNode(at: number): Promise<void> {
    const node = this.nodes[at]!;
    const command = new Command(['serve'], {
      env: node.env,
      nodeArgs: [`--import=${SET_CLOCK.href}`],
    });
    node.command = command;
    await command.printed(LISTENS);
  }

  runMember(at: number): void {
    this.#etcd.run(at);
  }

  signalNode(at: number, signal: NodeJS.Signals): void {
    this.nodes[at]!.command?.signal(signal);
  }

  signalMember(at: number, signal: NodeJS.Signals): void {
    this.#etcd.signal(at, signal);
  }

  async killNode(at: number): Promise<void> {
    const node = this.nodes[at]!;
    const { command } = node;
    node.command = null;
    if (command === null) return;
    const { stdout, stderr } = await command.end('SIGKILL');
    node.said += stdout + stderr;
  }

  async killMember(at: number): Promise<void> {
    await this.#etcd.kill(at);
  }

  /** The node reaches no member of etcd. */
  cutNode(at: number): void {
    for (const link of this.nodes[at]!.links) link.cut(() => true);
  }

  /** No other member reaches this one, and it reaches none. Its nodes reach it. */
  cutMember(at: number): void {
    const id = this.#memberIds[at]!;
    for (const [to, link] of this.#peerLinks.entries()) {
      link.cut((sender) => to === at || sender === id);
    }
  }

  /** Each connection of the node to etcd, or of the member to others, is open and dead. */
  loseNode(at: number): void {
    for (const link of this.nodes[at]!.links) link.lose(() => true);
  }

  loseMember(at: number): void {
    const id = this.#memberIds[at]!;
    for (const [to, link] of this.#peerLinks.entries()) {
      link.lose((sender) => to === at || sender === id);
    }
  }

  /** As `paperbook cluster move`. */
  async moveLead(shard: number, to: number): Promise<void> {
    await moveLead(this.#client, NAME, `shard/${shard}`, `n${to}`);
  }

  heal(): void {
    for (const link of [...this.#peerLinks, ...this.nodes.flatMap(({ links }) => links)]) {
      link.heal();
    }
  }

  /** Sets the machine's clock of a node, by so many milliseconds. */
  setClock(at: number, byMs: number): void {
    const { clockFile } = this.nodes[at]!;
    writeFileSync(`${clockFile}.new`, String(byMs));
    renameSync(`${clockFile}.new`, clockFile);
  }

  /** The node that leads a shard; null: none does, or etcd does not answer. */
  async leaderOf(shard: number): Promise<number | null> {
    const status = await clusterStatus(this.#client, NAME).catch(() => null);
    const leader = status?.shards[shard]?.leader?.node;
    return leader === undefined ? null : Number(leader.slice(1));
  }

  /** The member that leads the others; null: none says so. */
  async leadingMember(): Promise<number | null> {
    for (const [at, url] of this.#etcd.urls.entries()) {
      const status = await memberStatus(url).catch(() => null);
      if (status !== null && status.leader === status.header.member_id) return at;
    }
    return null;
  }

  /** Resolves once each node leads or has caught up. */
  async untilReady(): Promise<void> {
    for (const { adminUrl } of this.nodes) {
      await eventually(`the node at ${adminUrl} is ready`, async () => {
        const answer = await fetch(`${adminUrl}/readyz`, {
          signal: AbortSignal.timeout(2000),
        }).catch(() => null);
        return answer?.ok ? true : null;
      });
    }
  }

  /** What the nodes have said so far, all together. */
  get said(): string {
    return this.nodes
      .map(
        ({ said, command }) =>
          said + (command?.output.stdout ?? '') + (command?.output.stderr ?? ''),
      )
      .join('');
  }

  async stop(): Promise<void> {
    for (const at of this.nodes.keys()) this.signalNode(at, 'SIGCONT');
    await Promise.all([...this.nodes.keys()].map((at) => this.killNode(at)));
    await this.#etcd.stop();
    this.#client.close();
    for (const link of [...this.#peerLinks, ...this.nodes.flatMap(({ links }) => links)]) {
      link.close();
    }
    await this.venues.close();
  }
}

async function makeUsers(dataDir: string, env: Env, count: number): Promise<ClusterUser[]> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { command, adminUrl } = await startServer('serve', dataDir, env);
  const token = readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
  const admin = (where: string, body: object): Promise<Json> =>
    ask(token, 'POST', adminUrl + where, body);
  const scopes = ['portfolio:read', 'markets:read', 'trade:write'];
  const users: ClusterUser[] = [];
  for (let n = 0; n < count; n++) {
    const name = `caller-${n}`;
    const { user } = await admin('/admin/users', {
      email: `${name}@example.com`,
      plan: 'enterprise',
      tradeLimits: { key: WIDE, account: WIDE },
    });
    const key = await admin('/admin/keys', { userId: user.id, scopes });
    users.push({ name, token: key.token });
  }
  await command.end('SIGINT');
  return users;
}

type MemberStatus = { header: { member_id: string }; leader?: string };

async function memberStatus(url: string): Promise<MemberStatus> {
  const answer = await fetch(`${url}/v3/maintenance/status`, {
    method: 'POST',
    body: '{}',
    signal: AbortSignal.timeout(1000),
  });
  return (await answer.json()) as MemberStatus;
}

const memberIdOf = async (url: string): Promise<string> =>
  BigInt((await memberStatus(url)).header.member_id).toString(16);

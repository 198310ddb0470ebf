/** Nodes of one cluster in this process, which share an etcd in this process. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Log } from '../../api/base/logger.ts';
import type { Paperbook } from '../../api/main.ts';
import { EtcdDouble } from '../engine/replication/etcd-double.ts';
import { catalogOf, game, instrument } from '../process/catalogs.ts';
import { cheapenHashes } from './cheap-hashes.ts';
import { type Ending, startOnFeedClock } from './on-feed-clock.ts';
import type { Json } from './support.ts';

cheapenHashes();

const SILENT: Log = { info() {}, warn() {}, error() {} };
const GAMES = ['g1', 'g1', 'g1'];

export type Node = { paperbook: Paperbook; catalogFile: string; dataDir: string };

/** Nodes of one cluster in this process, each with its own directory and catalog file. */
export class Cluster {
  readonly etcd: EtcdDouble;
  readonly directory = mkdtempSync(path.join(tmpdir(), 'paperbook-cluster-'));
  readonly secretFile: string;
  readonly #t: Ending;
  readonly #games: readonly string[] | undefined;

  /** `games`: of each instrument. If they are given, all of them are listed. */
  static async start(t: Ending, games?: readonly string[]): Promise<Cluster> {
    const cluster = new Cluster(t, await EtcdDouble.start(), games);
    const first = await cluster.node('one', false);
    await first.paperbook.close();
    cpSync(path.join(cluster.directory, 'one'), path.join(cluster.directory, 'two'), {
      recursive: true,
    });
    return cluster;
  }

  private constructor(t: Ending, etcd: EtcdDouble, games: readonly string[] | undefined) {
    this.#t = t;
    this.#games = games;
    this.etcd = etcd;
    this.secretFile = path.join(this.directory, 'secret');
    writeFileSync(this.secretFile, 'a secret of the cluster\n');
    t.teardown(() => rmSync(this.directory, { recursive: true }));
    t.teardown(() => etcd.stop());
  }

  async node(name: string, isInCluster = true): Promise<Node> {
    const catalogFile = path.join(this.directory, `${name}.json`);
    list({ catalogFile }, this.#games?.length ?? 1, this.#games);
    const settings = {
      ...{ name: 'test', node: name, etcd: [this.etcd.url], address: `https://${name}.example` },
      ...{ secretFile: this.secretFile, leaseSeconds: 20 },
    };
    const env: Record<string, string> = { PAPERBOOK_DEFAULT_PLAN: 'basic', PAPERBOOK_SHARDS: '2' };
    if (isInCluster) env.PAPERBOOK_CLUSTER = JSON.stringify(settings);
    const place = { directory: path.join(this.directory, name), catalogFile, log: SILENT, env };
    return { catalogFile, ...(await startOnFeedClock(this.#t, place)) };
  }
}

/** The first so many instruments are listed. */
export function list(
  { catalogFile }: Pick<Node, 'catalogFile'>,
  count: number,
  games: readonly string[] = GAMES,
): void {
  const instruments = games.map((of, n) => instrument(`i${n + 1}`, of)).slice(0, count);
  writeFileSync(catalogFile, catalogOf([...new Set(games)].map(game), instruments));
}

export async function ask(
  { paperbook: { baseUrl } }: Node,
  route: string,
  { token, body, method }: { token?: string; body?: object; method?: string } = {},
): Promise<{ status: number; json: Json }> {
  const answer = await fetch(new URL(route, baseUrl), {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? {} : JSON.parse(text) };
}

/** The same of the operator. */
export async function askAdmin(
  { paperbook: { adminUrl }, dataDir }: Node,
  method: string,
  route: string,
  body: object | string,
): Promise<{ status: number; json: Json }> {
  const admin = readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
  const answer = await fetch(adminUrl + route, {
    method,
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Json };
}

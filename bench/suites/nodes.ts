/**
 * Durable orders over HTTP to the leader of a cluster: three nodes and three members of etcd on this
 * machine. Next to it the same server without a cluster. Batches are records of the leader's log.
 */
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { LogReader } from '../../engine/log/log-reader.ts';
import { identityOf } from '../../engine/shard/store/data-format.ts';
import { logIn } from '../../engine/shard/store/shard-log.ts';
import { startSimulator } from '../../feeds/simulator/server.ts';
import { etcdProgram, RealEtcd } from '../lib/etcd.ts';
import { eventually } from '../lib/eventually.ts';
import { freePorts } from '../lib/free-ports.ts';
import { Generator, type Measured } from '../lib/generator.ts';
import { INSTRUMENTS } from '../lib/http-market.ts';
import { goodOf } from '../lib/http-report.ts';
import { cpuMsOf } from '../lib/proc.ts';
import { count, type Figures, ms, type Report, type Suite } from '../lib/report.ts';
import { type Served, startServe } from '../lib/server.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { makeUsers, tradableInstruments } from '../lib/users.ts';

export type NodesSizes = {
  accounts: number;
  connections: readonly number[];
  rounds: number;
  warmupMs: number;
  measureMs: number;
};

export const nodes: Suite<NodesSizes> = {
  name: 'nodes',
  about: 'durable orders of a cluster of three nodes and three members of etcd, and without one',
  full: { accounts: 200, connections: [1, 64, 256], rounds: 3, warmupMs: 1000, measureMs: 4000 },
  quick: { accounts: 20, connections: [64], rounds: 1, warmupMs: 500, measureMs: 1500 },
  run,
};

const NODES = 3;
const LISTED_AHEAD_MS = 3_600_000;

/** One load: what was answered, the records of it, and what each process used. */
type Round = {
  measured: Measured;
  records: number;
  recordBytes: number;
  /** Of nodes that follow, together, and of the members of etcd. */
  followersCpuMs: number;
  etcdCpuMs: number;
};

/** The first server leads; `etcd`: the processes of its members. */
type System = { name: string; servers: Served[]; dataDir: string; etcd: number[] };

async function run(sizes: NodesSizes, progress: (line: string) => void): Promise<Report> {
  if (etcdProgram === null) throw new Error('etcd is not installed');
  const dir = tempDir();
  const simulator = await startSimulator({ seed: 1, pauses: false });
  const catalog = path.join(dir, 'catalog.json');
  writeFileSync(catalog, JSON.stringify(simulator.catalog(Date.now() + LISTED_AHEAD_MS)));
  const feeds = Object.entries(simulator.urls).map(([venue, url]) => ({
    venue,
    adapter: 'native',
    url,
  }));
  const variables = {
    ...{ PAPERBOOK_CATALOG: catalog, PAPERBOOK_FEEDS: JSON.stringify(feeds) },
    PAPERBOOK_VENUE_DATA: 'on',
  };
  const generator = new Generator();
  const figures: Figures = {};
  const rows: string[][] = [];
  const etcd = await RealEtcd.start(NODES);
  try {
    const dirOf = (at: number | string) => path.join(dir, `data-${at}`);
    const first = await startServe(dirOf(0), variables);
    const keys = await makeUsers(first, sizes.accounts, 'trader');
    const instruments = await tradableInstruments({ ...first, demoKey: keys[0]! }, INSTRUMENTS);
    await first.stop();
    for (const at of [1, 2, 'alone']) cpSync(dirOf(0), dirOf(at), { recursive: true });
    const systems = [
      async () => ({
        ...{ name: 'without a cluster', dataDir: dirOf('alone'), etcd: [] },
        servers: [await startServe(dirOf('alone'), variables)],
      }),
      async () => ({
        ...{ name: 'three nodes', dataDir: dirOf(0), etcd: etcd.pids },
        servers: await startNodes(dirOf, etcd.urls, dir, variables),
      }),
    ];
    for (const start of systems) {
      const system = await start();
      for (const connections of sizes.connections) {
        const rounds: Round[] = [];
        for (let round = 0; round < sizes.rounds; round++) {
          progress(`nodes: ${system.name}, ${connections} connections, round ${round + 1}`);
          rounds.push(await measure(generator, system, { keys, instruments, connections, sizes }));
        }
        rows.push(rowOf(`${system.name}, ${connections}`, rounds, figures));
      }
      for (const server of system.servers) await server.stop();
    }
  } finally {
    generator.close();
    await etcd.stop();
    await simulator.close();
    dropDir(dir);
  }
  return { tables: [tableOf(rows)], figures };
}

/** The first one leads: the others start once it does. */
async function startNodes(
  dirOf: (at: number) => string,
  etcd: readonly string[],
  dir: string,
  variables: NodeJS.ProcessEnv,
): Promise<Served[]> {
  const secretFile = path.join(dir, 'secret');
  writeFileSync(secretFile, 'of the nodes of a benchmark');
  const ports = await freePorts(NODES);
  const servers: Served[] = [];
  for (const [at, port] of ports.entries()) {
    const address = `http://127.0.0.1:${port}`;
    const settings = { name: 'bench', node: `n${at}`, address, etcd, secretFile };
    const server = await startServe(dirOf(at), {
      ...{ ...variables, PAPERBOOK_PORT: String(port), PAPERBOOK_DURABILITY: 'commit' },
      PAPERBOOK_CLUSTER: JSON.stringify(settings),
    });
    servers.push(server);
    await eventually('a node leads or follows', async () => {
      return (await fetch(`${server.adminUrl}/readyz`)).ok;
    });
  }
  return servers;
}

type Load = {
  keys: readonly string[];
  instruments: readonly string[];
  connections: number;
  sizes: NodesSizes;
};

let loads = 0;

async function measure(
  generator: Generator,
  { servers, dataDir, etcd }: System,
  { keys, instruments, connections, sizes: { warmupMs, measureMs } }: Load,
): Promise<Round> {
  const [leader, ...followers] = servers as [Served, ...Served[]];
  const used = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const usedNow = () => [used(followers.map(({ pid }) => pid)), used(etcd)] as const;
  let before = usedNow();
  let firstRecord = 0;
  const name = `nodes-${loads++}`;
  const { port, basePath } = leader;
  const measured = await generator.run(
    leader,
    {
      load: { kind: 'orders', port, basePath, keys, instruments, name },
      ...{ connections, warmupMs, measureMs, ratePerSecond: null },
    },
    () => {
      before = usedNow();
      firstRecord = Date.now();
    },
  );
  const [followersCpuMs, etcdCpuMs] = usedNow().map((now, at) => now - before[at]!) as [
    number,
    number,
  ];
  const untilMs = firstRecord + measureMs;
  const sizes = recordSizes(dataDir, firstRecord, untilMs);
  const recordBytes = sizes.reduce((sum, bytes) => sum + bytes, 0);
  return { measured, records: sizes.length, recordBytes, followersCpuMs, etcdCpuMs };
}

/** The bytes of each record of the first shard within a time. */
function recordSizes(dataDir: string, fromMs: number, untilMs: number): number[] {
  const log = LogReader.open(logIn(path.join(dataDir, 'shard-0')), identityOf(0));
  try {
    const sizes: number[] = [];
    for (const { atMs, payload } of log.records(0)) {
      if (atMs >= fromMs && atMs < untilMs) sizes.push(payload.length);
    }
    return sizes;
  } finally {
    log.close();
  }
}

function rowOf(name: string, rounds: readonly Round[], figures: Figures): string[] {
  const sum = (of: (round: Round) => number) => rounds.reduce((all, round) => all + of(round), 0);
  const orders = sum(({ measured }) => goodOf(measured));
  const seconds = sum(({ measured }) => measured.seconds);
  const records = sum((round) => round.records);
  const mean = (of: (round: Round) => number) => sum(of) / rounds.length;
  const micros = (cpuMs: number) => (1000 * cpuMs) / orders;
  const values = {
    'orders/s': orders / seconds,
    'records/s': records / seconds,
    'orders a record': orders / records,
    'bytes a record': sum((round) => round.recordBytes) / records,
    'p50 ms': mean(({ measured }) => measured.latency.p50),
    'p99 ms': mean(({ measured }) => measured.latency.p99),
    'leader CPU us': micros(sum(({ measured }) => measured.serverCpuMs)),
    'follower CPU us': micros(sum((round) => round.followersCpuMs)) / (NODES - 1),
    'etcd CPU us': micros(sum((round) => round.etcdCpuMs)) / NODES,
  };
  for (const [what, value] of Object.entries(values)) {
    figures[`${name}/${what}`] = { unit: what, value };
  }
  return [
    name,
    count(values['orders/s']),
    count(values['records/s']),
    values['orders a record'].toFixed(1),
    count(values['bytes a record']),
    ms(values['p50 ms']),
    ms(values['p99 ms']),
    values['leader CPU us'].toFixed(0),
    values['follower CPU us'].toFixed(0),
    values['etcd CPU us'].toFixed(0),
  ];
}

const tableOf = (rows: string[][]) => ({
  title: 'nodes: durable orders a second, one shard, over HTTP to its leader',
  columns: [
    ...['system, connections', 'orders/s', 'records/s', 'orders a record', 'bytes a record'],
    ...['p50 ms', 'p99 ms', 'CPU us an order: leader', 'a follower', 'a member of etcd'],
  ],
  rows,
  notes: [
    'orders: those that rest or fill, and cancels; without a cluster a record is on disk by fdatasync',
    'all processes and the generator share this machine',
  ],
});

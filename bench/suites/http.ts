/**
 * The whole server over HTTP with `sync` durability: quotes, portfolios and orders at several
 * numbers of connections and accounts. Each is next to three peers under the same generator. One is
 * a bare handler. Two send every request to a thread and make orders durable there, without any
 * rule: one by Piscina and LMDB, one by rings and an appended file.
 */
import path from 'node:path';
import { Generator, type LoadGenerator, type Measured } from '../lib/generator.ts';
import { answerBytes, type Market, openMarket } from '../lib/http-market.ts';
import { answersOf, httpReport, type Rounds } from '../lib/http-report.ts';
import type { LoadKind } from '../lib/load.ts';
import { startPrepared } from '../lib/prepared-server.ts';
import { count, type Report, type Suite } from '../lib/report.ts';
import { type AnswerBytes, type Running, startBare } from '../lib/server.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { findWrk, WrkGenerator } from '../lib/wrk.ts';

type Part = {
  accounts: number;
  kinds: readonly LoadKind[];
  connections: readonly number[];
};

export type HttpSizes = {
  /** Each on its own server. */
  parts: readonly Part[];
  rounds: number;
  warmupMs: number;
  measureMs: number;
  /** Accounts whose portfolios are read. */
  readers: number;
};

export const http: Suite<HttpSizes> = {
  name: 'http',
  about: 'the server over HTTP, against a bare uWebSockets.js handler',
  full: {
    parts: [
      { accounts: 1000, kinds: ['quotes', 'portfolio', 'orders'], connections: [1, 64, 256] },
      { accounts: 500_000, kinds: ['orders'], connections: [1, 64, 256] },
    ],
    rounds: 5,
    warmupMs: 500,
    measureMs: 3000,
    readers: 100,
  },
  quick: {
    parts: [
      { accounts: 1000, kinds: ['quotes', 'portfolio', 'orders'], connections: [1, 256] },
      { accounts: 20_000, kinds: ['orders'], connections: [256] },
    ],
    rounds: 1,
    warmupMs: 300,
    measureMs: 1000,
    readers: 20,
  },
  run,
};

async function run(sizes: HttpSizes, progress: (line: string) => void): Promise<Report> {
  const wrk = findWrk();
  const generator = wrk === null ? new Generator() : new WrkGenerator(wrk);
  const taken: Rounds[] = [];
  let bytes: AnswerBytes | null = null;
  try {
    for (const part of sizes.parts) {
      const measured = await measurePart(part, generator, sizes, progress);
      taken.push(...measured.rounds);
      bytes ??= measured.bytes;
    }
  } finally {
    generator.close();
  }
  return httpReport(taken, bytes!, wrk === null ? 'our own' : 'wrk');
}

async function measurePart(
  part: Part,
  generator: LoadGenerator,
  sizes: HttpSizes,
  progress: (line: string) => void,
): Promise<{ rounds: Rounds[]; bytes: AnswerBytes }> {
  const dir = tempDir();
  const servers: Running[] = [];
  try {
    progress(`http: making ${count(part.accounts)} accounts`);
    const { server, keys } = await startPrepared(path.join(dir, 'data'), part.accounts);
    servers.push(server);
    const market = await openMarket(server, sizes.readers, keys);
    const bytes = await answerBytes(server, market);
    const bare = await startBare(bytes);
    servers.push(bare);
    const hop = await startBare(bytes, { way: 'hop', dir: path.join(dir, 'hop') });
    servers.push(hop);
    const ring = await startBare(bytes, { way: 'ring', dir: path.join(dir, 'ring') });
    servers.push(ring);
    const load = (target: Running, kind: LoadKind, connections: number) =>
      measure(generator, target, market, { kind, connections }, sizes);
    progress('http: warming up');
    for (const kind of part.kinds) {
      for (const target of servers) await load(target, kind, WARM_CONNECTIONS);
    }
    const taken: Rounds[] = [];
    for (const kind of part.kinds) {
      for (const connections of part.connections) {
        const label = `${kind}, ${connections}, ${count(part.accounts)}`;
        const rounds: Rounds = { label, ours: [], bare: [], hop: [], ring: [] };
        for (let round = 0; round < sizes.rounds; round++) {
          progress(`http: ${label}, round ${round + 1}`);
          rounds.ours.push(await load(server, kind, connections));
          rounds.bare.push(await load(bare, kind, connections));
          rounds.hop.push(await load(hop, kind, connections));
          rounds.ring.push(await load(ring, kind, connections));
        }
        taken.push(rounds);
      }
    }
    return { rounds: taken, bytes };
  } finally {
    for (const server of servers) await server.stop();
    dropDir(dir);
  }
}

/** Warms up, so that code which is not compiled yet is not measured. */
const WARM_CONNECTIONS = 64;

let loads = 0;

/** Above one in ten, it would be another benchmark. */
const REFUSED_MAX = 0.1;
/** Simulated venues pause a market for up to twenty seconds. Such a round is measured again. */
const TRIES = 10;

async function measure(
  generator: LoadGenerator,
  target: Running,
  { traders, readers, instruments }: Market,
  { kind, connections }: { kind: LoadKind; connections: number },
  { warmupMs, measureMs }: HttpSizes,
): Promise<Measured> {
  const { port, basePath } = target;
  const keys = kind === 'orders' ? traders : readers;
  for (let tries = 1; ; tries++) {
    const name = `load-${process.pid}-${++loads}`;
    const measured = await generator.run(target, {
      load: { kind, port, basePath, keys, instruments, name },
      connections,
      warmupMs,
      measureMs,
      ratePerSecond: null,
    });
    const { refusals } = measured;
    const refused = Object.values(refusals).reduce((sum, times) => sum + times, 0);
    if (refused <= answersOf(measured) * REFUSED_MAX) return measured;
    const arePauses = Object.keys(refusals).every((text) => text.includes('market_not_open'));
    if (!arePauses || tries === TRIES) {
      throw new Error(`${kind}: answers were refusals: ${JSON.stringify(refusals)}`);
    }
  }
}

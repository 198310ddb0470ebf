/**
 * The lists of an account with a long history, over HTTP, one page after another on one connection:
 * the first page, and pages from the whole list, in each status.
 */
import path from 'node:path';
import { tagOf } from '../../api/base/cursors.ts';
import { cursorOf, ROW_ID } from '../../engine/base/cursors.ts';
import { type Past, prepareHistory } from '../lib/prepared-history.ts';
import { usageSince } from '../lib/proc.ts';
import { seededRandom } from '../lib/random.ts';
import { count, type Figures, ms, type Report, type Suite } from '../lib/report.ts';
import { type Paperbook, startPaperbook } from '../lib/server.ts';
import { Latencies } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';
import { threadTable } from '../lib/thread-table.ts';
import { askJson } from '../lib/users.ts';
import { seededUuid } from '../lib/uuid.ts';

export type ListsSizes = { trades: number; requests: number };

export const lists: Suite<ListsSizes> = {
  name: 'lists',
  about: 'pages of the lists of an account with a million trades',
  full: { trades: 1_000_000, requests: 200 },
  quick: { trades: 50_000, requests: 50 },
  run,
};

const PAGE = 200;
const WARM_UP = 20;
const LISTS = [
  { list: 'trades', path: '/portfolio/trades', statuses: [null, 'closed', 'settled', 'void'] },
  { list: 'orders', path: '/portfolio/orders', statuses: [null, 'executed', 'canceled'] },
] as const;

async function run(sizes: ListsSizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const dataDir = path.join(dir, 'data');
  const first = await startPaperbook(dataDir);
  const account = await accountOf(first);
  await first.stop();
  progress(`lists: ${count(sizes.trades)} trades are written`);
  const past = await prepareHistory(dataDir, account, sizes.trades);
  const server = await startPaperbook(dataDir);
  const report = await measure(server, past, sizes, progress);
  await server.stop();
  dropDir(dir);
  return report;
}

async function accountOf({ port, basePath, demoKey }: Paperbook): Promise<string> {
  const url = `http://127.0.0.1:${port}${basePath}/me`;
  return ((await askJson(url, demoKey)) as { user: { id: string } }).user.id;
}

async function measure(
  { pid, port, basePath, demoKey: token }: Paperbook,
  { fromMs, untilMs }: Past,
  { trades, requests }: ListsSizes,
  progress: (line: string) => void,
): Promise<Report> {
  const figures: Figures = {};
  const rows: string[][] = [];
  const usage = usageSince(pid);
  let pages = 0;
  for (const { list, path: route, statuses } of LISTS) {
    for (const status of statuses) {
      const name = `${list}, ${status ?? 'any status'}`;
      const filter = status === null ? '' : `&status=${status}`;
      const url = `http://127.0.0.1:${port}${basePath}${route}?limit=${PAGE}${filter}`;
      progress(`lists: ${name}`);
      const random = seededRandom(1);
      const tag = tagOf(list, status === null ? {} : { status });
      const anyCursor = () => {
        const id = seededUuid(random, fromMs + random.below(untilMs - fromMs));
        return cursorOf(tag, id, ROW_ID);
      };
      const firstPage = await timed(url, token, requests, () => null);
      const deepPage = await timed(url, token, requests, anyCursor);
      for (const [where, { p50, p99 }] of [
        ['first page', firstPage],
        ['pages all over', deepPage],
      ] as const) {
        figures[`${name}/${where}/p50`] = { unit: 'ms', value: p50 };
        figures[`${name}/${where}/p99`] = { unit: 'ms', value: p99 };
      }
      pages += 2 * (WARM_UP + requests);
      const times = [firstPage, deepPage].flatMap(({ p50, p99 }) => [ms(p50), ms(p99)]);
      rows.push([name, ...times]);
    }
  }
  const columns = ['list', 'first, p50', 'p99', 'all over, p50', 'p99'];
  const title = `pages of ${PAGE} of an account with ${count(trades)} trades, ms over HTTP`;
  const used = [{ label: 'pages', rounds: [{ threads: usage().threads, units: pages }] }];
  const threads = threadTable('lists', 'page', used, figures);
  return { tables: [{ title, columns, rows }, threads], figures };
}

async function timed(url: string, token: string, requests: number, cursor: () => string | null) {
  const times = new Latencies();
  for (let request = -WARM_UP; request < requests; request++) {
    const at = cursor();
    const startedMs = performance.now();
    const rows = await rowsAt(url, token, at);
    if (rows === 0) throw new Error(`${url} has no rows`);
    if (request >= 0) times.add(performance.now() - startedMs);
  }
  return times.summary();
}

async function rowsAt(url: string, token: string, cursor: string | null): Promise<number> {
  const from = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const answer = (await askJson(`${url}${from}`, token)) as Record<string, unknown>;
  return Object.values(answer).reduce<number>((sum, value) => {
    return Array.isArray(value) ? sum + value.length : sum;
  }, 0);
}

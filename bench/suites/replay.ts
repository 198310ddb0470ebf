/**
 * A feed file through `feed replay`: Kalshi's increments from gzip to ticks that met the orders,
 * with both fill models, and the parsing of its JSON alone.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip, createGzip } from 'node:zlib';
import { replay, WHOLE_FILE } from '../../api/cli/replay.ts';
import { type EpochMs, isoOf } from '../../engine/base/units.ts';
import { bookOf, catalogOf, deltaOf, snapshotOf } from '../lib/kalshi-frames.ts';
import { seededRandom } from '../lib/random.ts';
import { count, type Figures, percent, type Report, type Suite } from '../lib/report.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

export type ReplaySizes = { frames: number; markets: number };

const SEED = 11;
const START_MS: EpochMs = Date.UTC(2026, 6, 12, 4);
/** Of file time. */
const FRAMES_A_MS = 20;
const MODELS = ['top_of_book', 'book_depth'] as const;
const HEADER = '{"format":"paperbook-feed","version":1}\n';
const WRITTEN_TOGETHER = 1_000_000;

export const replayed: Suite<ReplaySizes> = {
  name: 'replay',
  about: 'a feed file of Kalshi increments through a replay, from gzip to matched ticks',
  full: { frames: 3_000_000, markets: 1000 },
  quick: { frames: 300_000, markets: 1000 },
  run,
};

async function run(sizes: ReplaySizes, progress: (line: string) => void): Promise<Report> {
  const dir = tempDir();
  const files = { feed: path.join(dir, 'feed.jsonl.gz'), catalog: path.join(dir, 'catalog.json') };
  progress(`replay: writing ${count(sizes.frames)} frames`);
  await writeFeed(files.feed, sizes);
  writeFileSync(files.catalog, JSON.stringify(catalogOf(sizes.markets)));
  progress('replay: parsing alone');
  const parseMicros = ((await parseMsOf(files.feed)) * 1000) / sizes.frames;
  const figures: Figures = { 'JSON.parse alone': { unit: 'us', value: parseMicros } };
  const rows: string[][] = [];
  for (const fillModel of MODELS) {
    progress(`replay: ${fillModel}`);
    const before = process.cpuUsage();
    const { frames, elapsedMs } = await replay({ ...WHOLE_FILE, ...files, fillModel });
    const { user, system } = process.cpuUsage(before);
    const aMinute = (frames / elapsedMs) * 60_000;
    const cpuMicros = (user + system) / frames;
    figures[`${fillModel}/frames a minute`] = { unit: '1/min', value: aMinute };
    figures[`${fillModel}/CPU a frame`] = { unit: 'us', value: cpuMicros };
    const share = percent(parseMicros / cpuMicros);
    rows.push([fillModel, count(aMinute), cpuMicros.toFixed(1), share]);
  }
  const peakMiB = Math.round(process.resourceUsage().maxRSS / 1024);
  const table = {
    title: `replay: ${count(sizes.frames)} increments of ${sizes.markets} markets, 1 shard`,
    columns: ['fill model', 'frames a minute', 'CPU us a frame', 'of it JSON.parse'],
    rows,
    notes: [`JSON.parse alone: ${parseMicros.toFixed(2)} us a line`, `peak memory ${peakMiB} MiB`],
  };
  dropDir(dir);
  return { tables: [table], figures };
}

/** Milliseconds of `JSON.parse` over all lines. */
async function parseMsOf(feed: string): Promise<number> {
  const input = createReadStream(feed).pipe(createGunzip());
  let ms = 0;
  let lines: string[] = [];
  const parse = () => {
    const startMs = performance.now();
    for (const line of lines) JSON.parse(line);
    ms += performance.now() - startMs;
    lines = [];
  };
  for await (const line of createInterface({ input })) {
    if (lines.push(line) === 10_000) parse();
  }
  parse();
  return ms;
}

/** A snapshot per market, then increments: one in five at the best level of its side. */
async function writeFeed(file: string, { frames, markets }: ReplaySizes): Promise<void> {
  const gzip = createGzip();
  const out = createWriteStream(file);
  gzip.pipe(out);
  const random = seededRandom(SEED);
  const books = Array.from({ length: markets }, () => bookOf(20 + random.below(60)));
  let text = HEADER;
  for (const [market, book] of books.entries()) text += lineOf(START_MS, snapshotOf(market, book));
  for (let frame = 0; frame < frames; frame++) {
    const atMs = START_MS + Math.floor(frame / FRAMES_A_MS);
    text += lineOf(atMs, deltaOf(random, books, markets + frame, atMs));
    if (text.length < WRITTEN_TOGETHER) continue;
    if (!gzip.write(text)) await once(gzip, 'drain');
    text = '';
  }
  gzip.end(text);
  await once(out, 'close');
}

function lineOf(atMs: EpochMs, frame: string): string {
  return `{"at":"${isoOf(atMs)}","venue":"venue_a","adapter":"kalshi","frame":${frame}}\n`;
}

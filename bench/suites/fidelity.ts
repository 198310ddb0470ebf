/**
 * How near paper fills come to the market's, on recordings: the tables of `paperbook fidelity`. A
 * recording is a feed file, or JSON Lines of Kalshi's frames as `{"recv_ms","event"}`, as the shared
 * window is. Rule X15 (feeds/FORMATS.md).
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync, type WriteStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { replay, WHOLE_FILE } from '../../api/cli/replay.ts';
import { fidelity, ORDERS_A_MOMENT } from '../../api/fidelity/fidelity.ts';
import { fidelityTables } from '../../api/fidelity/fidelity-tables.ts';
import { FILL_MODELS, isoOf } from '../../engine/base/units.ts';
import type { Figures, Report, Suite } from '../lib/report.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

/** `files`: none for the shared window. */
export type FidelitySizes = { files: readonly string[]; orders: number };

const SEED = 1;
const WINDOW = new URL(
  '../../../shared/data/kalshi-ws-window/KXGOLD15M-26AUG050000-00.ndjson.gz',
  import.meta.url,
).pathname;

export const fills: Suite<FidelitySizes> = {
  name: 'fidelity',
  about: "paper fills beside the market's, on recordings (FILE...); alone: the shared window",
  full: { files: [], orders: 3600 },
  quick: { files: [], orders: 360 },
  run,
};

async function run(sizes: FidelitySizes, progress: (line: string) => void): Promise<Report> {
  const files = sizes.files.length > 0 ? sizes.files : [WINDOW].filter(existsSync);
  if (files.length === 0) {
    const title = `fidelity: no FILE, and no shared window at ${WINDOW}`;
    return { tables: [{ title, columns: [], rows: [] }], figures: {} };
  }
  const directory = tempDir();
  const feeds: string[] = [];
  for (const file of files) {
    feeds.push(await feedFileOf(file, path.join(directory, `${feeds.length}.jsonl`)));
  }
  const found = await fidelity({
    files: feeds,
    seed: SEED,
    moments: Math.ceil(sizes.orders / ORDERS_A_MOMENT),
    latencyMs: 0,
    replay: (options) => replay({ ...WHOLE_FILE, ...options }),
    progress,
  });
  dropDir(directory);
  const tables = fidelityTables(found).map(({ title, columns, rows }) => {
    return { title: `fidelity: ${title}`, columns, rows: rows.map((row) => row.map(String)) };
  });
  const figures: Figures = {};
  for (const rate of found.fillRates) {
    for (const model of FILL_MODELS) {
      const name = `${rate.place}/${rate.contracts}/${rate.withinMs / 1000} s/${model}`;
      figures[name] = { unit: 'points outside', value: rate[model].gap * 100 };
    }
  }
  return { tables, figures };
}

/** The recording as a feed file: itself, or the frames in it written as one. */
export async function feedFileOf(recording: string, to: string): Promise<string> {
  let file: WriteStream | null = null;
  for await (const line of linesOf(recording)) {
    if (file === null) {
      if (!line.startsWith('{"recv_ms"')) return recording;
      file = createWriteStream(to);
      file.write('{"format":"paperbook-feed","version":1}\n');
    }
    const { recv_ms: atMs, event: frame } = JSON.parse(line);
    const feedLine = { at: isoOf(atMs), venue: 'venue_a', adapter: 'kalshi', frame };
    if (!file.write(`${JSON.stringify(feedLine)}\n`)) await once(file, 'drain');
  }
  if (file === null) return recording;
  file.end();
  await once(file, 'finish');
  return to;
}

function linesOf(recording: string): AsyncIterable<string> {
  const bytes = createReadStream(recording);
  const input = recording.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes;
  return createInterface({ input });
}

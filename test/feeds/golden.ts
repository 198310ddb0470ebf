/** Golden files of adapters: frames of our own making, in order, each with what it must mean. */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { FrameReading } from '../../feeds/reading/venue.ts';

type GoldenLine = { rule: string; frame: unknown; reading: FrameReading };

export function goldenLines(name: string): GoldenLine[] {
  return jsonLines(new URL(`../golden/${name}.jsonl`, import.meta.url)) as GoldenLine[];
}

/** A folder of the shared recordings beside the repository; they may be missing. */
export function sharedData(folder: string): { dir: URL; present: boolean } {
  const dir = new URL(`../../../shared/data/${folder}/`, import.meta.url);
  return { dir, present: existsSync(dir) };
}

export function jsonLines(url: URL): unknown[] {
  const bytes = readFileSync(url);
  const text = String(url.pathname.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Rows of a CSV file without quoting, by column name. */
export function csvRows(url: URL): Record<string, string>[] {
  const [header, ...lines] = readFileSync(url, 'utf8').trim().split(/\r?\n/);
  const names = header!.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, index) => [name, cells[index]!]));
  });
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Catalog files as the commands read, check and write them. */
import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { text as streamText } from 'node:stream/consumers';
import { catalogErrorText, parseCatalog } from '../../feeds/catalog.ts';
import type { CatalogFile } from '../../feeds/catalog-schema.ts';

/**
 * `-` is standard input.
 *
 * @throws with every error and its place, where the file is no catalog.
 */
export async function readCatalogFile(file: string): Promise<CatalogFile> {
  let text: string;
  try {
    text = file === '-' ? await streamText(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${file}: cannot be read (${code ?? 'unknown'})`);
  }
  const reading = parseCatalog(text);
  if (!reading.ok) throw new Error(`${file} has errors:\n${catalogErrorText(reading.errors)}`);
  return JSON.parse(text);
}

/** @throws with every error and its place, as `catalog check` names them. */
export function checkedText(file: CatalogFile, name: string): string {
  const text = `${JSON.stringify(file, null, 2)}\n`;
  const reading = parseCatalog(text);
  if (!reading.ok) throw new Error(`${name} has errors:\n${catalogErrorText(reading.errors)}`);
  return text;
}

/** Replaces the file in one step, so that a server never reads half of one. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const next = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}`);
  try {
    const handle = await open(next, 'wx');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

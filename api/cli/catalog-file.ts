/** Reads and checks catalog files for the commands. */
import { boundedText, readProblem } from '../../engine/base/bounded-json.ts';
import { catalogProblem, parseCatalog } from '../../feeds/catalog/catalog.ts';
import type { CatalogFile } from '../../feeds/catalog/catalog-schema.ts';

/**
 * `-` is standard input.
 *
 * @throws every error with its place, if the file is not a valid catalog.
 */
export async function readCatalogFile(file: string): Promise<CatalogFile> {
  let text: string;
  try {
    text = await boundedText(file === '-' ? process.stdin : file);
  } catch (error) {
    throw new Error(`${file}: ${readProblem(error)}`);
  }
  const reading = parseCatalog(text);
  if (!reading.ok) throw new Error(catalogProblem(file, reading.errors));
  return JSON.parse(text);
}

/** @throws every error with its place, as `catalog check` shows them. */
export function checkedText(file: CatalogFile, name: string): string {
  const text = `${JSON.stringify(file, null, 2)}\n`;
  const reading = parseCatalog(text);
  if (!reading.ok) throw new Error(catalogProblem(name, reading.errors));
  return text;
}

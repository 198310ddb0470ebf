/**
 * The page's scripts and styles. An installed package has them on disk. A clone makes them from its
 * sources, once per process, at the first request for one. Rules A97, A98 (api/RULES.md).
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Asset } from '../http/asset.ts';
import type { MadeBundle, PageIndex, PageName, PageParts } from './make-web-bundle.ts';

export type WebBundle = {
  /** By its name. */
  parts: ReadonlyMap<string, Asset>;
  /** Names of parts. */
  styles: string;
  pages: Readonly<Record<PageName, PageParts>>;
};

/** Where an installed package has it. */
const ON_DISK = fileURLToPath(new URL('../../web', import.meta.url));

let made: Promise<WebBundle> | null = null;

/** Rejects if it cannot be made; the next call then tries again. */
export function webBundle(): Promise<WebBundle> {
  made ??= openBundle().catch((error: unknown) => {
    made = null;
    throw error;
  });
  return made;
}

async function openBundle(): Promise<WebBundle> {
  const { index, contents } = existsSync(ON_DISK) ? bundleOnDisk() : await bundleOfSources();
  const assets = [...contents].map(([name, bytes]) => new Asset(name, bytes));
  const { styles, pages } = index;
  return { parts: new Map(assets.map((asset) => [asset.name, asset])), styles, pages };
}

function bundleOnDisk(): MadeBundle {
  const bytesOf = (name: string) => readFileSync(path.join(ON_DISK, name));
  const index = JSON.parse(bytesOf('index.json').toString()) as PageIndex;
  return { index, contents: new Map(index.names.map((name) => [name, bytesOf(name)])) };
}

/** Loaded only here: an installed package has no esbuild. */
async function bundleOfSources(): Promise<MadeBundle> {
  const { makeWebBundle } = await import('./make-web-bundle.ts');
  return await makeWebBundle();
}

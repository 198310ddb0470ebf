/**
 * The page's scripts and styles, made of api/web by esbuild: in memory, once a process, at the first
 * request for one. Rules A97, A98 (api/RULES.md).
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildResult, build, type Metafile, stop } from 'esbuild';
import { Asset } from '../http/asset.ts';

/** `page` is everyone's; `operator` is the page of the admin listener. */
export type PageName = 'page' | 'operator';

export type WebBundle = {
  /** By its name. */
  parts: ReadonlyMap<string, Asset>;
  /** Names of parts. */
  styles: string;
  pages: Readonly<Record<PageName, PageParts>>;
};
type PageParts = {
  script: string;
  /** What the script imports at once, so that a browser fetches it meanwhile. */
  imported: readonly string[];
};

type Built = BuildResult<{ write: false; metafile: true }>;
type Outputs = Metafile['outputs'];

const API = fileURLToPath(new URL('..', import.meta.url));
/** A clone has the sources as they are written, the packed product compiled. */
const ENDING = import.meta.url.endsWith('.ts') ? 'tsx' : 'js';
const ENTRIES = {
  page: `web/page.${ENDING}`,
  operator: `web/operator.${ENDING}`,
  styles: 'web/styles/page.css',
} as const;
/** With what the page needs: nested CSS, `light-dark()`, modules. */
const BROWSERS = ['chrome123', 'firefox128', 'safari17.5'];

let made: Promise<WebBundle> | null = null;

/** Rejects where it cannot be made; the next call then tries again. */
export function webBundle(): Promise<WebBundle> {
  made ??= makeBundle().catch((error: unknown) => {
    made = null;
    throw error;
  });
  return made;
}

async function makeBundle(): Promise<WebBundle> {
  const { outputFiles, metafile }: Built = await build({
    absWorkingDir: API,
    entryPoints: ENTRIES,
    outdir: 'web-bundle',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    metafile: true,
    entryNames: '[name].[hash]',
    chunkNames: '[name].[hash]',
    target: BROWSERS,
    // Whoever gets a copy of a package gets its license too.
    legalComments: 'eof',
    logLevel: 'silent',
    // Not what a tsconfig.json beside the sources says: the packed product has none.
    tsconfigRaw: {
      compilerOptions: { jsx: 'react-jsx', jsxImportSource: 'preact', verbatimModuleSyntax: true },
    },
  });
  // It has no more work, and would wait in a process of its own.
  await stop();
  const assets = outputFiles.map((file) => new Asset(path.basename(file.path), file.contents));
  const { outputs } = metafile;
  return {
    parts: new Map(assets.map((asset) => [asset.name, asset])),
    styles: path.basename(outputOf(outputs, ENTRIES.styles)),
    pages: {
      page: partsOf(outputs, ENTRIES.page),
      operator: partsOf(outputs, ENTRIES.operator),
    },
  };
}

function partsOf(outputs: Outputs, entry: string): PageParts {
  const script = outputOf(outputs, entry);
  const imported = new Set<string>();
  const visit = (output: string) => {
    for (const { path: target, kind } of outputs[output]!.imports) {
      if (kind !== 'import-statement' || imported.has(target)) continue;
      imported.add(target);
      visit(target);
    }
  };
  visit(script);
  return {
    script: path.basename(script),
    imported: [...imported].map((output) => path.basename(output)),
  };
}

/** The file made of an entry. */
function outputOf(outputs: Outputs, entry: string): string {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === entry);
  if (found === undefined) throw new Error(`esbuild made nothing of ${entry}`);
  return found[0];
}

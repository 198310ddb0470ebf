/**
 * Makes the page's scripts and styles of api/web by esbuild: in memory at the first request of a
 * clone, and on disk for an installed package. Rules A97, A98 (api/RULES.md).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildResult, build, type Metafile, stop } from 'esbuild';

/** `page` is everyone's; `operator` is the page of the admin listener. */
export type PageName = 'page' | 'operator';
export type PageParts = {
  script: string;
  /** The modules that the script imports at once, so that a browser fetches them early. */
  imported: readonly string[];
};
/** The parts and which of them a page names, by their names. */
export type PageIndex = {
  names: readonly string[];
  styles: string;
  pages: Readonly<Record<PageName, PageParts>>;
};
export type MadeBundle = { index: PageIndex; contents: ReadonlyMap<string, Uint8Array> };

type Built = BuildResult<{ write: false; metafile: true }>;
type Outputs = Metafile['outputs'];

const API = fileURLToPath(new URL('..', import.meta.url));
const ENTRIES = {
  page: 'web/page.tsx',
  operator: 'web/operator.tsx',
  styles: 'web/styles/page.css',
} as const;
/** With everything that the page needs: nested CSS, `light-dark()`, modules. */
const BROWSERS = ['chrome123', 'firefox128', 'safari17.5'];

/** Rejects if esbuild cannot make it. */
export async function makeWebBundle(): Promise<MadeBundle> {
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
    // A copy of a package must include its license.
    legalComments: 'eof',
    logLevel: 'silent',
    tsconfigRaw: {
      compilerOptions: { jsx: 'react-jsx', jsxImportSource: 'preact', verbatimModuleSyntax: true },
    },
  });
  // It has no more work, and would wait in a separate process.
  await stop();
  const contents = new Map(outputFiles.map((file) => [path.basename(file.path), file.contents]));
  const { outputs } = metafile;
  return {
    index: {
      names: [...contents.keys()],
      styles: path.basename(outputOf(outputs, ENTRIES.styles)),
      pages: {
        page: partsOf(outputs, ENTRIES.page),
        operator: partsOf(outputs, ENTRIES.operator),
      },
    },
    contents,
  };
}

/** Writes it for an installed package, whose web-bundle.ts reads it. */
export function writeWebBundle({ index, contents }: MadeBundle, directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, bytes] of contents) writeFileSync(path.join(directory, name), bytes);
  writeFileSync(path.join(directory, 'index.json'), JSON.stringify(index));
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

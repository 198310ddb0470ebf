/**
 * Generates the clients from the API's description: `npm run client`. Redocly writes the calls and
 * types. tsc turns them and the hand-written files into plain JavaScript with declarations, because
 * Node strips no types below `node_modules`. python-module.ts writes Python's part.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { productVersion } from '../base/version.ts';
import { describeApi } from '../openapi/document.ts';
import { apiRoutes } from '../operations/routes/api-routes.ts';
import type { ServerContext } from '../operations/server-context.ts';
import { WRITTEN } from './client-files.ts';
import { type Description, pythonModule } from './python-module.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const REDOCLY = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const TSC = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
const TSC_OPTIONS = '--ignoreConfig --strict --declaration --module nodenext';
const TSC_TARGET =
  '--target es2022 --lib es2022,dom,dom.iterable --rewriteRelativeImportExtensions';

/** Where `npm run client` writes the Python client's part, beside this file. */
export const PYTHON_FILE = 'python/paperbook_client/generated.py';
const PYTHON_PROJECT = 'python/pyproject.toml';

/**
 * A description needs none of the parts that run a route. No call of a client opens a WebSocket,
 * but the description covers all routes. Rule A112 (api/RULES.md).
 */
function description() {
  const routes = apiRoutes({} as ServerContext);
  const { paths, ...whole } = describeApi(routes, '/v1') as DescribedApi;
  const sockets = routes.filter(({ status }) => status === 101).map(({ path }) => path);
  const called = Object.entries(paths).filter(([at]) => !sockets.includes(at));
  return { ...whole, paths: Object.fromEntries(called) };
}

type DescribedApi = { paths: Record<string, object> };

/** The text of `PYTHON_FILE`. */
export function generatePython(): string {
  return pythonModule(description() as Description);
}

/** Writes the files of client-files.ts into a directory. */
export async function generateClient(directory: string): Promise<void> {
  const work = mkdtempSync(path.join(tmpdir(), 'paperbook-client-'));
  try {
    const inWork = (name: string) => path.join(work, name);
    writeFileSync(inWork('openapi.json'), JSON.stringify(description()));
    writeFileSync(inWork('package.json'), '{"type":"module"}');
    const generated = ['--output', inWork('generated.ts'), '--args-style', 'grouped'];
    await runNode(REDOCLY, 'generate-client', inWork('openapi.json'), ...generated);
    for (const file of WRITTEN) copyFileSync(path.join(HERE, file), inWork(file));
    const options = `${TSC_OPTIONS} ${TSC_TARGET}`.split(' ');
    await runNode(TSC, ...options, '--outDir', directory, inWork('client.ts'));
  } finally {
    rmSync(work, { recursive: true });
  }
}

async function runNode(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  }).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`${args[0]} failed:\n${error.stdout}${error.stderr}`, { cause: error });
  });
}

/** The file of the Python package with the version of package.json. Rule U75 (api/RULES.md). */
export function pythonProject(): string {
  const text = readFileSync(path.join(HERE, PYTHON_PROJECT), 'utf8');
  return text.replace(/^version = ".*"$/m, `version = "${productVersion()}"`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await generateClient(HERE);
  writeFileSync(path.join(HERE, PYTHON_FILE), generatePython());
  writeFileSync(path.join(HERE, PYTHON_PROJECT), pythonProject());
}

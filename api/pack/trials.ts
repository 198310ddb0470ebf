/**
 * Each artefact of a release as whoever installs it has it: in an empty place, and started there.
 * Both clients ask the server that the same release made. Rule U74 (api/RULES.md).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Artefacts } from './artefacts.ts';
import { copiedFrom, envOf, readDockerfile, type Step, stepsOf } from './dockerfile.ts';
import { outerEnv, runStep } from './steps.ts';

const ANSWERS_WITHIN_MS = 120_000;
const LOOKS_EVERY_MS = 200;

type Trial = { checkout: string; work: string; python: string; version: string };
type Server = { baseUrl: string; key: string };

/** Throws at the first that does not work. Returns what this machine cannot try, a line each. */
export async function tryArtefacts(made: Artefacts, trial: Trial): Promise<string[]> {
  const project = installedBy(made.server, path.join(trial.work, 'server'));
  const command = path.join(project, 'node_modules/.bin/paperbook');
  const printed = runStep('The version of the server', command, ['--version'], project).trim();
  if (printed !== trial.version) throw new Error(`the server says that it is ${printed}`);
  const untried: string[] = [];
  const demo = start(command, ['demo', '--empty'], project, {});
  try {
    const file = path.join(project, 'data/demo.json');
    const server: Server = await eventually('the server of the tarball', demo, () =>
      existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null,
    );
    await eventually('its status', demo, () => isOk(`${server.baseUrl}/status`));
    tryClient(made.client, server, trial);
    untried.push(...tryWheel(made.wheel, server, trial));
  } finally {
    await stop(demo);
  }
  if (made.image === null) {
    await trySteps(trial);
    untried.push('the image itself: the steps of the Dockerfile were run without a container');
  } else {
    await tryImage(made.image);
  }
  return untried;
}

/** An empty project that has installed a tarball, and was warned of nothing. */
function installedBy(tarball: string, project: string): string {
  mkdirSync(project);
  writeFileSync(path.join(project, 'package.json'), '{"private":true,"type":"module"}\n');
  const name = path.basename(tarball);
  const args = ['install', '--no-audit', '--no-fund', tarball];
  const printed = runStep(`npm install ${name}`, 'npm', args, project);
  const warning = printed.split('\n').find((line) => /^npm (warn|error)/i.test(line));
  if (warning !== undefined) throw new Error(`npm install ${name} prints: ${warning}`);
  return project;
}

function tryClient(tarball: string, { baseUrl, key }: Server, { work }: Trial): void {
  const project = installedBy(tarball, path.join(work, 'client'));
  writeFileSync(
    path.join(project, 'bot.js'),
    `import { createClient } from 'paperbook-client';
    const [baseUrl, credential] = process.argv.slice(2);
    console.log((await createClient({ baseUrl, credential }).getMe()).key.prefix);\n`,
  );
  const args = ['bot.js', baseUrl, key];
  expectPrefix('paperbook-client', runStep('Its bot', process.execPath, args, project), key);
}

/** Where no package index answers, it takes the packages that it needs from this machine. */
function tryWheel(wheel: string, { baseUrl, key }: Server, { work, python }: Trial): string[] {
  const folder = path.join(work, 'python');
  const installed = path.join(folder, 'bin/python');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const untried: string[] = [];
  runStep('An empty Python', python, ['-m', 'venv', folder]);
  try {
    runStep('pip install', installed, [...pip, '--retries', '0', wheel], work);
  } catch {
    untried.push('the packages that the wheel needs, since no package index answers');
    runStep('An empty Python', python, ['-m', 'venv', '--clear', '--system-site-packages', folder]);
    runStep('pip install', installed, [...pip, '--no-index', '--no-deps', wheel], work);
    try {
      runStep('The packages of this machine', installed, ['-c', 'import httpx, websockets']);
    } catch {
      untried.push('the wheel is installed but not started: httpx and websockets are not here');
      return untried;
    }
  }
  const bot = 'import paperbook_client as p; print(p.Client().get_me()["key"]["prefix"])';
  const env = { PAPERBOOK_BASE_URL: baseUrl, PAPERBOOK_API_KEY: key };
  expectPrefix('the wheel', runStep('Its bot', installed, ['-c', bot], work, env), key);
  return untried;
}

function expectPrefix(what: string, printed: string, key: string): void {
  const prefix = printed.trim();
  if (prefix === '' || !key.startsWith(prefix)) throw new Error(`${what} printed ${prefix}`);
}

/** The steps of the Dockerfile in folders of their own in place of those of a container. */
async function trySteps({ checkout, work }: Trial): Promise<void> {
  const stages = readDockerfile(path.join(checkout, 'Dockerfile'));
  const image = stages.at(-1)!;
  const [source, app] = [path.join(work, 'image/src'), path.join(work, 'image/app')];
  const steps = stages.slice(0, -1).flat();
  for (const name of stages.slice(0, -1).flatMap(copiedFrom)) {
    cpSync(path.join(checkout, name), path.join(source, name), { recursive: true });
  }
  for (const step of stepsOf(steps, 'RUN')) {
    runStep(`RUN ${step}`, 'sh', ['-ec', inFolder(step, app)], source);
  }
  const linked = /ln -s (\/app\/\S+) \/usr\/local\/bin\/paperbook/.exec(stepsOf(image, 'RUN')[0]!);
  const args = JSON.parse(stepsOf(image, 'CMD')[0]!);
  const data = path.join(work, 'image/data');
  const env = { ...envOf(image), PAPERBOOK_DATA_DIR: data, PAPERBOOK_HOST: '127.0.0.1' };
  const program = inFolder(linked![1]!, app);
  const server = start(process.execPath, [program, ...args], app, env);
  try {
    await eventually('the server of the Dockerfile', server, () => isHealthy(image, server));
  } finally {
    await stop(server);
  }
}

function inFolder(step: string, app: string): string {
  return step.replaceAll(/(?<=^|[\s=])\/app(?=[\s/]|$)/g, app);
}

/** By the check of the image, at the port that the server says. */
async function isHealthy(image: readonly Step[], { errors }: Started): Promise<true | null> {
  const admin = /"adminUrl":"([^"]+)"/.exec(errors())?.[1];
  if (admin === undefined) return null;
  const [check] = stepsOf(image, 'HEALTHCHECK');
  const [, ...args] = JSON.parse(check!.slice(check!.indexOf('["')));
  const env = { ...outerEnv(), PAPERBOOK_ADMIN_PORT: new URL(admin).port };
  const [code] = await once(spawn(process.execPath, args, { env, stdio: 'ignore' }), 'exit');
  return code === 0 ? true : null;
}

async function tryImage({ tool, name }: { tool: string; name: string }): Promise<void> {
  const args = ['run', '--detach', '--rm', '--env', 'PAPERBOOK_BEHIND_TLS_PROXY=on', name];
  const container = runStep(`${tool} run ${name}`, tool, args).trim();
  try {
    const health = ['inspect', '--format', '{{.State.Health.Status}}', container];
    await eventually('the health of the image', null, () =>
      runStep('Its health', tool, health).trim() === 'healthy' ? true : null,
    );
  } finally {
    runStep(`${tool} stop`, tool, ['stop', container]);
  }
}

type Started = { child: ChildProcess; errors: () => string };

/** A server on ports that the system chooses, in a group of its own that ends as a whole. */
function start(program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Started {
  const ports = { PAPERBOOK_PORT: '0', PAPERBOOK_ADMIN_PORT: '0' };
  const child = spawn(program, args, {
    cwd,
    env: { ...outerEnv(), ...env, ...ports },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return { child, errors: () => printed };
}

async function stop({ child, errors }: Started): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid!, 'SIGTERM');
  const [code] = await ended;
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} stopped with ${code}\n${errors()}`);
}

async function isOk(address: string): Promise<true | null> {
  const answered = await fetch(address).catch(() => null);
  return answered?.ok === true ? true : null;
}

async function eventually<Value>(
  what: string,
  server: Started | null,
  look: () => Promise<Value | null> | Value | null,
): Promise<Value> {
  const untilMs = performance.now() + ANSWERS_WITHIN_MS;
  while (performance.now() < untilMs) {
    const found = await look();
    if (found !== null) return found;
    if (server !== null && server.child.exitCode !== null) break;
    await pause(LOOKS_EVERY_MS);
  }
  throw new Error(`${what}: nothing came\n${server?.errors() ?? ''}`);
}

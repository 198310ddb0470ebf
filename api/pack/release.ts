/**
 * Publishes a version: `npm run release`. All is made of what the commit has, in a folder of its
 * own. Each artefact is installed in an empty place and started there before any is published.
 * `--dry-run` ends before that. Rules U74, U75 (api/RULES.md).
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Artefacts, checkOut, containerTool, makeArtefacts } from './artefacts.ts';
import { pythonToUse, runStep } from './steps.ts';
import { tryArtefacts } from './trials.ts';

const USAGE = 'usage: npm run release -- [--dry-run] [--image REGISTRY/NAME]';
/** Where the artefacts are left, beside package.json. */
const OUT = 'release';

type Options = {
  isDryRun: boolean;
  /** The name of the image in its registry, without a version. */
  image: string | null;
};

/** What the registries are told of the place of the sources. */
type Environment = Record<string, string | undefined>;

/** Why this commit cannot be published, each reason a line; none: it can be. */
export function refusalsOf(root: string, { isDryRun, image }: Options, env: Environment): string[] {
  const version = versionOf(root);
  const refusals = [...treeRefusals(root, version), ...changelogRefusals(root, version, isDryRun)];
  if (isDryRun) return refusals;
  if (repositoryOf(env) === null || !hasIdentity(env)) {
    refusals.push(
      'provenance needs a job of GitHub Actions or GitLab CI that may ask for an identity ' +
        '(`id-token: write`)',
    );
  }
  if (image === null) refusals.push('the image has no name: add --image REGISTRY/NAME');
  if (containerTool() === null) refusals.push('neither docker nor podman answers here');
  return refusals;
}

function versionOf(root: string): string {
  return JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).version;
}

/** A release is of what a commit has, and has its tag once. */
function treeRefusals(root: string, version: string): string[] {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const status = git('status', '--porcelain');
  if (status.status !== 0) return [`${root} is no clone that git can read`];
  const changed = status.stdout.split('\n').filter((line) => line !== '');
  const refusals: string[] = [];
  if (changed.length > 0) {
    const more = changed.length > 1 ? ` and ${changed.length - 1} more` : '';
    refusals.push(`the tree is dirty: ${changed[0]!.slice(3)}${more}; commit or remove it`);
  }
  if (git('tag', '--list', `v${version}`).stdout !== '') {
    refusals.push(`the tag v${version} is there already: \`npm version\` makes another version`);
  }
  return refusals;
}

function changelogRefusals(root: string, version: string, isDryRun: boolean): string[] {
  const text = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
  const section = text.split(/^## /m).find((each) => each.split(/[ \n]/, 1)[0] === version);
  if (section === undefined) return [`CHANGELOG.md has no section \`## ${version}\``];
  const [heading, ...lines] = section.split('\n');
  if (lines.every((line) => line.trim() === '')) {
    return [`the section ${version} of CHANGELOG.md is empty`];
  }
  if (!isDryRun && !/ \(\d{4}-\d\d-\d\d\)$/.test(heading!)) {
    return [`the section ${version} of CHANGELOG.md has no date: \`## ${version} (YYYY-MM-DD)\``];
  }
  return [];
}

/** The address of the sources where the job runs: npm compares it with the identity of the job. */
function repositoryOf(env: Environment): string | null {
  if (env.GITHUB_REPOSITORY) return `git+${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}.git`;
  return env.CI_PROJECT_URL ? `git+${env.CI_PROJECT_URL}.git` : null;
}

function hasIdentity({ ACTIONS_ID_TOKEN_REQUEST_URL, SIGSTORE_ID_TOKEN }: Environment): boolean {
  return Boolean(ACTIONS_ID_TOKEN_REQUEST_URL || SIGSTORE_ID_TOKEN);
}

async function release(root: string, options: Options): Promise<void> {
  const version = versionOf(root);
  say(`Paperbook ${version}${options.isDryRun ? ', without publishing it' : ''}`);
  const work = mkdtempSync(path.join(tmpdir(), 'paperbook-release-'));
  try {
    const out = path.join(root, OUT);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out);
    const checkout = checkOut(root, work, repositoryOf(process.env));
    const python = pythonToUse();
    const image = `${options.image ?? 'paperbook'}:${version}`;
    const made = makeArtefacts({ checkout, out, work, python, image, version });
    const untried = await tryArtefacts(made, { checkout, work, python, version });
    show(made);
    for (const what of untried) say(`Not tried here: ${what}`);
    if (options.isDryRun) {
      for (const tarball of [made.server, made.client]) publishPackage(tarball, ['--dry-run']);
      say('Nothing was published.');
      return;
    }
    if (untried.length > 0) throw new Error('what is published must have been tried: see above');
    publish(root, made, python, version);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Each with its size and its hash, as it lies in `OUT`. */
function show({ server, client, wheel, sources, image }: Artefacts): void {
  for (const file of [server, client, wheel, sources]) {
    const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
    const kilobytes = Math.ceil(statSync(file).size / 1000).toLocaleString('en-US');
    say(`${OUT}/${path.basename(file)}  ${kilobytes} kB  sha256:${hash}`);
  }
  say(image === null ? 'No image: neither docker nor podman answers here' : `Image ${image.name}`);
}

/** The tag is last: a release that failed between goes on with the same command. */
function publish(root: string, made: Artefacts, python: string, version: string): void {
  const { server, client, wheel, sources, image } = made;
  for (const [name, tarball] of [
    ['paperbook', server],
    ['paperbook-client', client],
  ] as const) {
    const known = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' });
    if (known.stdout.trim() === version) say(`${name} ${version} is published already`);
    else publishPackage(tarball, ['--provenance', '--access', 'public']);
  }
  const upload = ['-m', 'twine', 'upload', '--non-interactive', '--skip-existing', wheel, sources];
  runStep('Publishing the Python client', python, upload);
  runStep('Publishing the image', image!.tool, ['push', image!.name]);
  runStep('The tag', 'git', ['tag', '-a', `v${version}`, '-m', `Paperbook ${version}`], root);
  runStep('Publishing the tag', 'git', ['push', 'origin', `v${version}`], root);
  say(`Paperbook ${version} is published.`);
}

function publishPackage(tarball: string, options: readonly string[]): void {
  const name = path.basename(tarball);
  runStep(`npm publish ${options[0]} ${name}`, 'npm', ['publish', tarball, ...options]);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Null: the command line is none of ours. */
function readOptions(args: string[]): Options | null {
  try {
    const { values } = parseArgs({
      args,
      options: { 'dry-run': { type: 'boolean' }, image: { type: 'string' } },
    });
    return { isDryRun: values['dry-run'] ?? false, image: values.image ?? null };
  } catch {
    return null;
  }
}

async function main(): Promise<void> {
  const root = process.cwd();
  const options = readOptions(process.argv.slice(2));
  if (options === null) {
    process.stderr.write(`release: ${USAGE}\n`);
    process.exitCode = 2;
    return;
  }
  const refusals = refusalsOf(root, options, process.env);
  for (const refusal of refusals) process.stderr.write(`release: ${refusal}\n`);
  if (refusals.length > 0) {
    process.exitCode = 1;
    return;
  }
  try {
    await release(root, options);
  } catch (error) {
    process.stderr.write(`release: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();

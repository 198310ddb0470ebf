/**
 * What a release makes of a commit: the server and its client for npm, the client for PyPI, and the
 * image. Rule U74 (api/RULES.md).
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runStep } from './steps.ts';

/** Paths of files; the image is named, and null where nothing here makes one. */
export type Artefacts = {
  server: string;
  client: string;
  wheel: string;
  sources: string;
  image: { tool: string; name: string } | null;
};

type Making = {
  checkout: string;
  out: string;
  work: string;
  python: string;
  image: string;
  version: string;
};

/** Files that a commit has, without those that it does not. The packages are those of its lock. */
export function checkOut(root: string, work: string, repository: string | null): string {
  const checkout = path.join(work, 'paperbook');
  mkdirSync(checkout);
  const archive = path.join(work, 'commit.tar');
  runStep('The files of the commit', 'git', ['archive', '--output', archive, 'HEAD'], root);
  runStep('Unpacking them', 'tar', ['xf', archive, '-C', checkout]);
  publishable(path.join(checkout, 'package.json'), repository);
  runStep('npm ci', 'npm', ['ci', '--no-audit', '--no-fund'], checkout);
  return checkout;
}

/** `private` keeps a clone from being published by accident. */
function publishable(file: string, repository: string | null): void {
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  delete manifest.private;
  if (repository !== null) manifest.repository = { type: 'git', url: repository };
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The program that makes images and has a service that answers; null: neither does. */
export function containerTool(): string | null {
  const answers = (tool: string) => spawnSync(tool, ['info']).status === 0;
  return ['docker', 'podman'].find(answers) ?? null;
}

/** Makes all that is published, and starts none of it. */
export function makeArtefacts({ checkout, out, work, python, image, version }: Making): Artefacts {
  runStep('The server for npm', 'npm', ['pack', '--pack-destination', out], checkout);
  runStep('The client for npm', 'npm', ['run', 'pack:client', '--', out], checkout);
  const [wheel, sources] = pythonPackage(path.join(checkout, 'api/client/python'), out, python);
  const made = readdirSync(out);
  const named = (pattern: RegExp) => path.join(out, made.find((name) => pattern.test(name))!);
  const tool = containerTool();
  if (tool !== null) {
    const labels = ['--build-arg', `VERSION=${version}`];
    runStep('The image', tool, ['build', '--tag', image, ...labels, checkout], work);
  }
  return {
    server: named(/^paperbook-\d/),
    client: named(/^paperbook-client-/),
    wheel,
    sources,
    image: tool === null ? null : { tool, name: image },
  };
}

/** The wheel is made of the archive of sources, so that the archive is known to be whole. */
function pythonPackage(folder: string, out: string, python: string): [string, string] {
  const archive = 'import sys, wheel_backend; print(wheel_backend.build_sdist(sys.argv[1]))';
  const env = { PYTHONDONTWRITEBYTECODE: '1' };
  const printed = runStep('The sources for Python', python, ['-c', archive, out], folder, env);
  const sources = path.join(out, printed.trim());
  const args = ['-m', 'pip', 'wheel', '--no-deps', '--no-index', '--wheel-dir', out, sources];
  runStep('The wheel', python, args);
  const wheel = readdirSync(out).find((name) => name.endsWith('.whl'))!;
  return [path.join(out, wheel), sources];
}

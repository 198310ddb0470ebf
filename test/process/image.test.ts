/** What the Dockerfile puts into its image is enough to run, and its health check works. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { copiedFrom, envOf, readDockerfile, stepsOf } from '../api/dockerfile.ts';
import { Command, tempDir } from './server.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test.serial(
  'Dockerfile: what is copied runs, is found healthy, and stops on SIGTERM',
  async (t) => {
    const image = readDockerfile().at(-1)!;
    const app = path.join(tempDir(t), 'app');
    mkdirSync(app);
    for (const name of copiedFrom(image)) {
      cpSync(path.join(ROOT, name), path.join(app, name), { recursive: true });
    }
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(app, 'node_modules'));

    const linked = stepsOf(image, 'RUN')
      .join()
      .match(/ln -s \/app\/(\S+) \/usr\/local\/bin\/paperbook/);
    const program = path.join(app, linked![1]!);
    const env = { ...envOf(image), PAPERBOOK_DATA_DIR: path.join(app, 'data') };
    const proxied = { ...env, PAPERBOOK_HOST: '127.0.0.1', PAPERBOOK_BEHIND_TLS_PROXY: 'on' };
    const launcher = { program: process.execPath, args: [program] };
    const args = JSON.parse(stepsOf(image, 'CMD')[0]!);
    const command = new Command(args, { launcher, env: proxied });
    t.teardown(() => command.endGroup());
    await command.printed(/^Paperbook listens on /m);
    const { port } = new URL(/"adminUrl":"([^"]+)"/.exec(command.output.stderr)![1]!);

    const [check] = stepsOf(image, 'HEALTHCHECK');
    const [node, ...checkArgs] = JSON.parse(check!.slice(check!.indexOf('["')));
    t.is(node, 'node');
    const health = () =>
      new Promise<number | null>((resolve, reject) => {
        const options = { env: { ...proxied, PAPERBOOK_ADMIN_PORT: port } };
        const child = spawn(process.execPath, checkArgs, options);
        child.once('error', reject).once('exit', resolve);
      });
    t.is(await health(), 0);
    t.like(await command.end('SIGTERM'), { code: 0, signal: null });
    t.is(await health(), 1, 'nobody answers any more');
  },
);

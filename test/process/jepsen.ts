/**
 * `npm run jepsen -- --faults 100 --seed 1 --callers 6`: three nodes and three members of etcd on
 * loopback, under callers that retry their keys, and one fault after another. Prints each fault and a
 * summary; exits 1 on any breach.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { FAULTS, type Fault, playFaults } from './cluster/faults.ts';
import { positive } from './script.ts';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    callers: { type: 'string', default: '6' },
    shards: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
});
const [count, seed, callers, shards] = [
  values.faults,
  values.seed,
  values.callers,
  values.shards,
].map((text) => positive('jepsen', text)) as [number, number, number, number];
const kinds = FAULTS.filter((fault) => fault.includes(values.only));
const faults = Array.from({ length: count }, (_, at) => kinds[at % kinds.length]!);

// All that it has started ends with it.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-jepsen-'));
const out = (line: string) => process.stdout.write(`${line}\n`);
const startedMs = performance.now();
const { breaches, played, acknowledged, changes, results, counts, errors } = await playFaults(dir, {
  ...{ faults, seed, shards, callers, progress: out },
});
const seconds = Math.round((performance.now() - startedMs) / 1000);
out(
  `jepsen ${breaches.length === 0 ? 'ok' : 'FAILED'}: ${seconds} s, seed ${seed}, ${played.length} ` +
    `faults, ${acknowledged} orders acknowledged, ${changes} changes of users and keys, ${results} results, ${breaches.length} breaches; ` +
    Object.entries(counts)
      .map(([what, n]) => `${what} ${n}`)
      .join(', '),
);
for (const fault of kinds) out(gapsOf(fault));
for (const error of errors) out(`  error of a node: ${error}`);
for (const breach of breaches) out(`  ${breach}`);
// A directory is kept only after a breach.
if (breaches.length === 0) rmSync(dir, { recursive: true });
else out(`  data directories: ${dir}`);
process.exit(breaches.length === 0 ? 0 : 1);

function gapsOf(kind: Fault): string {
  const gaps = played.filter(({ fault }) => fault === kind).map(({ gapMs }) => Math.round(gapMs));
  gaps.sort((a, b) => a - b);
  if (gaps.length === 0) return `  ${kind}: none`;
  const median = gaps[Math.floor(gaps.length / 2)];
  return `  ${kind}: ${gaps.length}, gap in ms: median ${median}, worst ${gaps.at(-1)}`;
}

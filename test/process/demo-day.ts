/**
 * `node test/process/demo-day.ts --hours 24 --speed 60`: the demo on a clock that runs so many times
 * as fast. It prints what the demo takes of memory and disk, a line an hour of its clock.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { positive } from './script.ts';

const HOUR_MS = 3_600_000;
const CLOCK = new URL('fast-clock.js', import.meta.url);
const COMMAND = fileURLToPath(new URL('../../api/cli/paperbook.js', import.meta.url));

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    speed: { type: 'string', default: '60' },
  },
});
const hours = positive('demo-day', values.hours);
const speed = positive('demo-day', values.speed);

const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-day-'));
const data = path.join(dir, 'data');
const demo = spawn(process.execPath, [`--import=${CLOCK.href}`, COMMAND, 'demo'], {
  env: {
    ...process.env,
    ...{ FAST_CLOCK: String(speed), FAST_CLOCK_FROM: String(Date.now()) },
    ...{ PAPERBOOK_DATA_DIR: data, PAPERBOOK_PORT: '0', PAPERBOOK_ADMIN_PORT: '0' },
    // A step of the venues lasts longer by that clock.
    PAPERBOOK_QUOTE_MAX_AGE_MS: '60000',
  },
  stdio: 'ignore',
});
const ended = new Promise<void>((resolve) => demo.once('close', () => resolve()));
try {
  for (let hour = 1; hour <= hours && demo.exitCode === null; hour++) {
    await wait(HOUR_MS / speed);
    process.stdout.write(`hour ${hour}: ${figures()}\n`);
  }
} finally {
  demo.kill('SIGINT');
  await ended;
  rmSync(dir, { recursive: true });
}

/** Of the process and of its directory; what lies in a folder of it is one figure. */
function figures(): string {
  const status = readFileSync(`/proc/${demo.pid}/status`, 'utf8');
  const rssMb = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
  const kb = (name: string) => Math.round(bytesIn(path.join(data, name)) / 1024);
  const parts = readdirSync(data).map((name) => ({ name, kb: kb(name) }));
  const large = parts.filter((part) => part.kb >= 100).sort((a, b) => b.kb - a.kb);
  const disk = parts.reduce((sum, part) => sum + part.kb, 0);
  const named = large.map((part) => `${part.name} ${part.kb}`).join(', ');
  return `${rssMb} MB of memory, ${disk} KB of disk: ${named}`;
}

function bytesIn(place: string): number {
  const { size } = statSync(place);
  if (!statSync(place).isDirectory()) return size;
  return readdirSync(place).reduce((sum, name) => sum + bytesIn(path.join(place, name)), 0);
}

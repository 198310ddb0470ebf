/**
 * The shared parts of the scripts around a session: their numbers, their directory, their last
 * line.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Session } from './session.ts';

type Script = {
  name: string;
  /** Said in the last line, after the seconds that it took. */
  settings: string;
  session(dir: string): Promise<Session>;
  work(session: Session): Promise<void>;
};

/** Plays a session to its end, prints it in a line, and exits 1 on any breach. */
export async function runSession({ name, settings, session: create, work }: Script) {
  const dir = mkdtempSync(path.join(tmpdir(), `paperbook-${name}-`));
  const startedMs = Date.now();
  const session = await create(dir);
  try {
    await work(session);
  } catch (error) {
    session.breaches.push(String((error as Error).stack));
  } finally {
    await session.abandon();
  }
  const { breaches, rounds, stops, kills } = session;
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  const counts = Object.entries(session.counts())
    .sort(([, a], [, b]) => b - a)
    .map(([what, count]) => `${what} ${count}`);
  process.stdout.write(
    `${name} ${breaches.length === 0 ? 'ok' : 'FAILED'}: ${seconds} s, ${settings}, ` +
      `${rounds} rounds, ${stops} stops, ${kills} of them or of the starts after them by SIGKILL, ` +
      `${breaches.length} breaches; ${counts.join(', ')}\n`,
  );
  for (const breach of breaches) process.stdout.write(`  ${breach}\n`);
  // A directory is kept only after a breach.
  if (breaches.length === 0) rmSync(dir, { recursive: true });
  else process.stdout.write(`  data directory: ${dir}\n`);
  process.exitCode = breaches.length === 0 ? 0 : 1;
}

/** A number of the command line. Ends the process if it is none. */
export function positive(script: string, text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  process.stderr.write(`${script}: ${text} is not a number above 0\n`);
  process.exit(2);
}

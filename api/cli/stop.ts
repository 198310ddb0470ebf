/**
 * Decides when a running server stops: at a signal, or when npm, which started it, is gone. Rules
 * U2, U3 (api/RULES.md).
 */
import { readFileSync } from 'node:fs';

/**
 * A Ctrl-C can arrive twice: from the terminal, and from npm, which passes it on. A second signal
 * within this time is that copy, not a user who does not want to wait.
 */
const ECHO_MS = 1000;
const LOOK_FOR_NPM_MS = 500;

export type StopReason = NodeJS.Signals | 'npm is gone';

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when npm is gone. A later signal ends the
 * process at once. Call it before a start, so that a signal during the start stops the running
 * parts in order.
 */
export function stopRequest(): Promise<StopReason> {
  return new Promise((resolve) => {
    let firstMs: number | null = null;
    const onSignal = (signal: NodeJS.Signals) => {
      firstMs ??= Date.now();
      if (Date.now() - firstMs > ECHO_MS) killSelf();
      resolve(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    const isNpmGone = npmWatch();
    if (isNpmGone === null) return;
    const timer = setInterval(() => {
      if (!isNpmGone()) return;
      clearInterval(timer);
      resolve('npm is gone');
    }, LOOK_FOR_NPM_MS).unref();
  });
}

/**
 * Ends the process as a kill would. `process.exit` ends the threads first, and one that is then
 * inside LMDB aborts the process with lines of its own.
 */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

/**
 * Whether npm has ended. npm passes on only SIGINT and SIGTERM. If a shell is in between (`npx
 * paperbook serve`), the shell does not pass them on. Null if npm did not start this process, or if
 * it has its own session (setsid) and so is meant to outlive npm.
 */
function npmWatch(): (() => boolean) | null {
  if (process.env.npm_lifecycle_event === undefined) return null;
  if (readStat('self')?.session === process.pid) return null;
  const parent = process.ppid;
  const npm = isShellOfScript(parent) ? readStat(parent)?.parent : undefined;
  return () => process.ppid !== parent || (npm !== undefined && readStat(parent)?.parent !== npm);
}

/** npm runs a script as `sh -c SCRIPT`; some shells replace themselves by its one command. */
function isShellOfScript(pid: number): boolean {
  return readProc(pid, 'cmdline')?.split('\0')[1] === '-c';
}

function readStat(pid: number | 'self'): { parent: number; session: number } | null {
  const stat = readProc(pid, 'stat');
  if (stat === null) return null;
  // The second field is the name, in parentheses; it can contain any character.
  const [, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(parent), session: Number(session) };
}

/** Null if the process, or /proc, does not exist. */
function readProc(pid: number | 'self', file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null;
  }
}

/**
 * When a running server is to stop: at a signal, or when npm, which started it, is gone. Rules U2,
 * U3 (api/RULES.md).
 */
import { readFileSync } from 'node:fs';

/**
 * A Ctrl-C can arrive twice: from the terminal, and from npm, which passes it on. A second signal
 * within this time is that echo, and not someone who wants to wait no longer.
 */
const ECHO_MS = 1000;
const LOOK_FOR_NPM_MS = 500;

export type StopReason = NodeJS.Signals | 'npm is gone';

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when npm is gone; a later signal ends the
 * process at once. Asked for before a start, so that a signal during it stops what was started
 * instead of cutting it off.
 */
export function stopRequest(): Promise<StopReason> {
  return new Promise((resolve) => {
    let firstMs: number | null = null;
    const onSignal = (signal: NodeJS.Signals) => {
      firstMs ??= Date.now();
      if (Date.now() - firstMs > ECHO_MS) process.exit(1);
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
 * Whether npm has ended, which passes on SIGINT and SIGTERM alone, and those to a shell that
 * stands between (`npx paperbook serve`) and does not. Null where npm did not start this process,
 * or where it leads a session of its own (setsid), and so is to outlive its starter.
 */
function npmWatch(): (() => boolean) | null {
  if (process.env.npm_lifecycle_event === undefined) return null;
  if (readStat('self')?.session === process.pid) return null;
  const parent = process.ppid;
  const npm = isShellOfScript(parent) ? readStat(parent)?.parent : undefined;
  return () => process.ppid !== parent || (npm !== undefined && readStat(parent)?.parent !== npm);
}

/** npm runs a script as `sh -c SCRIPT`; some shells then give way to its one command. */
function isShellOfScript(pid: number): boolean {
  return readProc(pid, 'cmdline')?.split('\0')[1] === '-c';
}

function readStat(pid: number | 'self'): { parent: number; session: number } | null {
  const stat = readProc(pid, 'stat');
  if (stat === null) return null;
  // The second field is the name, in parentheses and free to hold any character.
  const [, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(parent), session: Number(session) };
}

/** Null where the process, or /proc, is not there. */
function readProc(pid: number | 'self', file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null;
  }
}

/**
 * Verifies parts of a data directory, one after the other, in a process that a damaged file may end.
 * Rule D16 (engine/RULES.md).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { workerUrl } from '../../engine/threads/worker-url.ts';
import type { VerifyAnswer, VerifyTask } from './verify-process.ts';

/** The result of one part; null: there is none, or it cannot be read. */
export type Part<T> = { found: T | null; problems: string[] };

/**
 * Most of a part's cost is the start of a process (0.5 seconds of CPU), so parts share one. A
 * breach ends the process, so that a damaged file's effect on its memory reaches no other part.
 */
export class PartVerifier {
  #child: ChildProcess | null = null;
  #settle: (answer: VerifyAnswer) => void = () => {};

  /** One part at a time. */
  async verify<T extends { problems: string[] }>(task: VerifyTask): Promise<Part<T>> {
    const answer = await new Promise<VerifyAnswer>((resolve) => {
      this.#settle = resolve;
      this.#child ??= this.#start();
      this.#child.send(task);
    });
    const found = answer.ok ? (answer.found as T | null) : null;
    const problems = answer.ok ? (found?.problems ?? []) : [answer.failure];
    if (problems.length > 0) await this.close();
    return { found, problems };
  }

  /** Ends the process. The next part would get a new one. */
  async close(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  }

  #start(): ChildProcess {
    const child = fork(workerUrl(import.meta.url, './verify-process'), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const fail = (failure: string) => this.#settle({ ok: false, failure });
    child.on('message', (answer) => this.#settle(answer as VerifyAnswer));
    child.on('error', ({ message }) => fail(message));
    child.on('exit', (code, signal) => {
      fail(`the file is damaged: reading it ended with ${signal ?? `code ${code}`}`);
    });
    return child;
  }
}

/** Verifies parts, and then ends the process. */
export async function verifyParts<T>(
  verifying: (verifier: PartVerifier) => Promise<T>,
): Promise<T> {
  const verifier = new PartVerifier();
  try {
    return await verifying(verifier);
  } finally {
    await verifier.close();
  }
}

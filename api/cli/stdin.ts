/** Reads secrets from standard input or without echo: other users can see a command's arguments. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { UsageError } from './usage.ts';

export const PASSWORD_OPTION = ['--password-stdin', 'read a password from standard input'] as const;

/** The one line of standard input. */
export async function passwordOfStdin(): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (password === '') throw new UsageError('standard input holds no password');
  return password;
}

/** Asks at the terminal. Throws if there is none, or when the user presses Ctrl-C or Ctrl-D. */
export async function askTerminal(
  question: string,
  { isSecret, instead }: { isSecret: boolean; instead: string },
): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError(`there is no terminal to ask at: use ${instead}`);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? nowhere : process.stderr,
    terminal: true,
  });
  const left = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new Error('nothing was done')));
  });
  if (isSecret) process.stderr.write(question);
  try {
    return await Promise.race([lines.question(isSecret ? '' : question), left]);
  } finally {
    lines.close();
    if (isSecret) process.stderr.write('\n');
  }
}

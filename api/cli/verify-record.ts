/** `paperbook verify-record FILE`: a signed track record, checked without a server. Rule U19 (api/RULES.md). */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { recordProblem } from '../../engine/records/track-record-signature.ts';
import { parseObject } from '../validation.ts';
import { show } from './table.ts';

type Flags = { keys?: string; json?: true };

export function addVerifyRecordCommand(program: Command): void {
  program
    .command('verify-record <file>')
    .description('check the signature of a track record, without a server; exit 1 on a breach')
    .option('--keys <file>', "the server's public keys, as GET /v1/track-record/keys answers them")
    .option('--json', 'print JSON on one line')
    .action(verifyRecord);
}

function verifyRecord(file: string, { keys: keysFile, ...options }: Flags): void {
  const keys = keysFile === undefined ? null : keysIn(keysFile);
  const answer = objectIn(file);
  const problem = recordProblem(answer, keys);
  if (problem !== null) process.exitCode = 1;
  const signer = keys === null ? 'unknown' : 'known';
  const keyId =
    problem === null ? (answer as { envelope: { keyId: string } }).envelope.keyId : null;
  show(options, { ok: problem === null, signer, keyId, problem }, () => {
    if (problem !== null) return `${file} is not genuine: ${problem}\n`;
    if (keys !== null) return `${file} is as it was signed by ${keyId}, one of the given keys\n`;
    return (
      `${file} agrees with itself: nothing in it was changed after it was signed by ${keyId}.\n` +
      'Whose key that is it does not prove: --keys takes the public keys of the server.\n'
    );
  });
}

function keysIn(file: string): readonly unknown[] {
  const { keys } = objectIn(file) as { keys?: unknown };
  if (Array.isArray(keys)) return keys;
  throw new Error(`${file} holds no JWKS: it has no array of the name keys`);
}

/** No key stands twice in it: each reader would see the same. */
function objectIn(file: string): object {
  const text = readFileSync(file, 'utf8');
  try {
    return parseObject(text, file);
  } catch (error) {
    throw new Error((error as Error).message);
  }
}

/**
 * `paperbook verify-record FILE` and `verify-receipt FILE`: what a server has signed, checked without
 * one. Rules U19, A158 (api/RULES.md).
 */
import type { Command } from 'commander';
import type { SignedReceipt } from 'paperbook/client';
import { boundedText, readProblem } from '../../engine/base/bounded-json.ts';
import { signedProblem } from '../../engine/records/track-record/track-record-signature.ts';
import { createAjv, parseNamedObject } from '../base/validation.ts';
import { ReceiptAnswer } from '../schemas/receipts.ts';
import { receiptText } from './receipt-text.ts';
import { show } from './table.ts';

/** A record of 90 days and the keys of a server are far smaller. */
const FILE_BYTES_MAX = 16 * 2 ** 20;

type Flags = { keys?: string; json?: true };
/** The part of an answer that is signed. */
type Signed = 'record' | 'receipt';

export function addVerifyRecordCommand(program: Command): void {
  addCommand(program, 'verify-record', 'record', 'a track record');
}

export function addVerifyReceiptCommand(program: Command): void {
  addCommand(program, 'verify-receipt', 'receipt', 'a receipt');
}

function addCommand(program: Command, name: string, signed: Signed, what: string): void {
  program
    .command(`${name} <file>`)
    .description(`check the signature of ${what}, without a server; exit 1 on a breach`)
    .option('--keys <file>', 'public keys of the server, from GET /v1/track-record/keys')
    .option('--json', 'print JSON on one line')
    .action((file: string, flags: Flags) => verify(signed, file, flags));
}

async function verify(
  signed: Signed,
  file: string,
  { keys: keysFile, ...options }: Flags,
): Promise<void> {
  const keys = keysFile === undefined ? null : await keysIn(keysFile);
  const answer = await objectIn(file);
  const problem = signedProblem(signed, answer, keys);
  if (problem !== null) process.exitCode = 1;
  const signer = keys === null ? 'unknown' : 'known';
  const keyId =
    problem === null ? (answer as { envelope: { keyId: string } }).envelope.keyId : null;
  show(options, { ok: problem === null, signer, keyId, problem }, () => {
    if (problem !== null) return `${file} is not genuine: ${problem}\n`;
    const content = signed === 'receipt' ? `\n${contentOf(answer)}` : '';
    if (keys !== null) {
      return `${file} is as it was signed by ${keyId}, one of the given keys\n${content}`;
    }
    return (
      `${file} agrees with itself: nothing in it was changed after it was signed by ${keyId}.\n` +
      `Whose key that is it does not prove: --keys takes the public keys of the server.\n${content}`
    );
  });
}

/** What a receipt says. Another version may have signed other fields. */
function contentOf(answer: object): string {
  const isReceipt = createAjv().compile<SignedReceipt>(ReceiptAnswer);
  if (isReceipt(answer)) return receiptText(answer);
  return 'Another version of the server has signed it: this one cannot show its fields.\n';
}

async function keysIn(file: string): Promise<readonly unknown[]> {
  const { keys } = (await objectIn(file)) as { keys?: unknown };
  if (Array.isArray(keys)) return keys;
  throw new Error(`${file} holds no JWKS: it has no array of the name keys`);
}

/** No key occurs twice in it: each reader would see the same. */
async function objectIn(file: string): Promise<object> {
  const text = await boundedText(file, FILE_BYTES_MAX).catch((error: unknown) => {
    throw new Error(`${file} ${readProblem(error)}`);
  });
  try {
    return parseNamedObject(text, file);
  } catch (error) {
    throw new Error((error as Error).message);
  }
}

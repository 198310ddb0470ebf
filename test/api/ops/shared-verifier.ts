/** `verify` for the tests of a file, in one process: its start is most of the cost. */
import test from 'ava';
import { PartVerifier } from '../../../api/ops/part-verifier.ts';
import { type Verification, type VerifyOptions, verifyDataDir } from '../../../api/ops/verify.ts';

/** For serial tests. A breach ends the process, and the next part gets another one. */
export function sharedVerifier() {
  const verifier = new PartVerifier();
  test.after.always(() => verifier.close());
  return (dataDir: string, options: Partial<VerifyOptions> = {}): Promise<Verification> =>
    verifyDataDir(dataDir, { keeps: false, isWhole: true, verifier, ...options });
}

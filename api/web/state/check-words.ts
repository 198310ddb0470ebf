/** The check of a signed record or receipt, in words. */
import type { RecordCheck } from './record-check.ts';

export type SignedThing = 'record' | 'receipt';

const SHOWN_CLAIMS: Readonly<Record<SignedThing, string>> = {
  record: 'Record: the numbers shown are the signed numbers.',
  receipt: 'Receipt: what is shown is what was signed.',
};

type Claim = { claim: string; holds: boolean | null };

/** The checks of a record, and their outcome. */
export function claimsOf(check: RecordCheck, keyId: string, what: SignedThing): Claim[] {
  return [
    {
      claim: 'Signature: the owner of the public key signed exactly these bytes.',
      holds: check.signature,
    },
    { claim: `Key: this server publishes the public key as ${keyId}.`, holds: check.key },
    { claim: SHOWN_CLAIMS[what], holds: check.record },
  ];
}

/** @returns `isGenuine` null: that cannot be said here */
export function verdictOf(
  { signature, key, record }: RecordCheck,
  what: SignedThing,
): { isGenuine: boolean | null; sentence: string } {
  if (signature === false || !key || !record) {
    return { isGenuine: false, sentence: `This ${what} is not genuine.` };
  }
  if (signature === null) {
    return { isGenuine: null, sentence: 'This browser cannot check Ed25519 signatures.' };
  }
  return {
    isGenuine: true,
    sentence: `This ${what} is genuine: it is unchanged since this server signed it.`,
  };
}

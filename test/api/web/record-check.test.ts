import test from 'ava';
import type {
  SignedReceipt,
  SignedTrackRecord,
  TrackRecord,
} from '../../../api/client/generated.js';
import { RECEIPT_EXAMPLE } from '../../../api/schemas/receipts.ts';
import { TRACK_RECORD_EXAMPLE } from '../../../api/schemas/track-record.ts';
import { claimsOf, verdictOf } from '../../../api/web/state/check-words.ts';
import { checkRecord } from '../../../api/web/state/record-check.ts';
import {
  jwkOf,
  newPrivateKey,
  recordProblem,
  signRecord,
  trackRecordKey,
} from '../../../engine/records/track-record/track-record-signature.ts';

const RECORD = {
  ...(TRACK_RECORD_EXAMPLE.record as TrackRecord),
  // Numbers and texts whose canonical form is not how they are written at first.
  brier: 1e-7,
  bySeries: [{ series: 'Ünïcode \u2028 "quoted"', settledPicks: 3, pnlDollars: -0.5 }],
};

function signed() {
  const key = trackRecordKey(newPrivateKey());
  const answer: SignedTrackRecord = {
    envelope: signRecord(RECORD, key),
    record: RECORD,
    mode: 'paper',
  };
  return { answer, keys: [jwkOf(key.publicKey)] };
}

const { subtle } = crypto;

test('a record is genuine as the server has signed it, and as verify-record says', async (t) => {
  const { answer, keys } = signed();
  t.is(recordProblem(answer, keys), null);
  const check = await checkRecord(JSON.parse(JSON.stringify(answer)), keys, subtle);
  t.deepEqual(check, { signature: true, key: true, record: true });
  t.like(verdictOf(check, 'record'), { isGenuine: true });
});

test('each byte of the envelope that is changed is found, and said of what it is', async (t) => {
  const { answer, keys } = signed();
  const claims = { payload: 'signature', signature: 'signature', publicKey: 'key', keyId: 'key' };
  for (const [name, claim] of Object.entries(claims) as ['payload', 'signature'][]) {
    const text = answer.envelope[name];
    for (let at = 0; at < text.length; at++) {
      const envelope = { ...answer.envelope, [name]: flipped(text, at) };
      const check = await checkRecord({ ...answer, envelope }, keys, subtle);
      t.false(check[claim], `${name} at ${at}`);
      t.like(verdictOf(check, 'record'), { isGenuine: false });
    }
  }
});

/** The least bit of a character: in the last one it may be one that no byte needs. */
function flipped(text: string, at: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = letters[letters.indexOf(text[at]!) ^ 1]!;
  return text.slice(0, at) + other + text.slice(at + 1);
}

test('a record that says something else than the payload is found', async (t) => {
  const { answer, keys } = signed();
  for (const record of [
    { ...RECORD, pnlDollars: RECORD.pnlDollars + 0.01 },
    { ...RECORD, bySeries: [] },
    { ...RECORD, more: 1 },
  ]) {
    const check = await checkRecord({ ...answer, record }, keys, subtle);
    t.deepEqual(check, { signature: true, key: true, record: false });
    t.deepEqual(
      claimsOf(check, 'KEY', 'record').map(({ claim, holds }) => `${claim.split(':')[0]} ${holds}`),
      ['Signature true', 'Key true', 'Record false'],
    );
  }
});

test('a key that the server does not publish, under this id or at all, is found', async (t) => {
  const { answer, keys } = signed();
  const other = jwkOf(trackRecordKey(newPrivateKey()).publicKey);
  for (const known of [[], [other], [{ ...other, kid: keys[0]!.kid }]]) {
    const check = await checkRecord(answer, known, subtle);
    t.deepEqual(check, { signature: true, key: false, record: true });
    t.like(verdictOf(check, 'record'), { isGenuine: false });
  }
  t.true((await checkRecord(answer, [other, ...keys], subtle)).key);
});

test('a browser without Ed25519 says so, and nothing of the signature', async (t) => {
  const { answer, keys } = signed();
  const lacking = {
    ...subtle,
    importKey: () => Promise.reject(new DOMException('no such algorithm', 'NotSupportedError')),
    verify: subtle.verify,
  };
  for (const without of [undefined, lacking]) {
    const check = await checkRecord(answer, keys, without);
    t.deepEqual(check, { signature: null, key: true, record: true });
    t.deepEqual(verdictOf(check, 'record'), {
      isGenuine: null,
      sentence: 'This browser cannot check Ed25519 signatures.',
    });
    // What else is wrong is wrong all the same.
    t.like(verdictOf({ ...check, record: false }, 'record'), { isGenuine: false });
  }
});

test('U50: a receipt is checked as a record is, and a changed one is found', async (t) => {
  const key = trackRecordKey(newPrivateKey());
  const { receipt } = RECEIPT_EXAMPLE;
  const answer: SignedReceipt = { envelope: signRecord(receipt, key), receipt, mode: 'paper' };
  const keys = [jwkOf(key.publicKey)];
  const check = await checkRecord(answer, keys, subtle);
  t.deepEqual(check, { signature: true, key: true, record: true });
  t.deepEqual(verdictOf(check, 'receipt'), {
    isGenuine: true,
    sentence: 'This receipt is genuine: it is unchanged since this server signed it.',
  });
  const fills = receipt.fills.map((fill) => ({ ...fill, priceCents: fill.priceCents - 1 }));
  const cheaper = await checkRecord({ ...answer, receipt: { ...receipt, fills } }, keys, subtle);
  t.like(verdictOf(cheaper, 'receipt'), { sentence: 'This receipt is not genuine.' });
  t.is(claimsOf(cheaper, 'KEY', 'receipt').at(-1)!.claim.split(':')[0], 'Receipt');
});

/** A thread that verifies signatures, many for each message. Rule A202 (api/RULES.md). */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { answerQuestions } from '../../../engine/threads/answer-questions.ts';

/** What is to be verified, one after the other; a public key is PEM, a signature is base64. */
export type Signed = { publicKeys: string[]; texts: string[]; signatures: string[] };

const PSS = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
};
/** The keys of busy clients. */
const KEYS_MAX = 1024;

const keys = new Map<string, KeyObject>();

function keyOf(pem: string): KeyObject {
  const known = keys.get(pem);
  if (known !== undefined) return known;
  const key = createPublicKey(pem);
  const [oldest] = keys.keys();
  if (keys.size === KEYS_MAX) keys.delete(oldest!);
  keys.set(pem, key);
  return key;
}

answerQuestions(({ publicKeys, texts, signatures }: Signed): boolean[] =>
  texts.map((text, at) => {
    const options = { key: keyOf(publicKeys[at]!), ...PSS };
    return verify('sha256', Buffer.from(text), options, Buffer.from(signatures[at]!, 'base64'));
  }),
);

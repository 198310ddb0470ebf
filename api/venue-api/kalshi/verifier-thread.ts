/** A thread that verifies signatures, many for each message. Rule A202 (api/RULES.md). */
import { answerQuestions } from '../../../engine/threads/answer-questions.ts';
import { isSigned } from './signed-text.ts';

/** What is to be verified, one after the other; a public key is PEM, a signature is base64. */
export type Signed = { publicKeys: string[]; texts: string[]; signatures: string[] };

answerQuestions(({ publicKeys, texts, signatures }: Signed): boolean[] =>
  texts.map((text, at) => isSigned(publicKeys[at]!, text, signatures[at]!)),
);

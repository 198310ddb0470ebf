/**
 * The thread's end of a `SupervisedWorker` that answers questions of one kind. Rules A95
 * (api/RULES.md), Z12 (engine/RULES.md).
 */
import { parentPort } from 'node:worker_threads';
import { invariant } from '../base/invariant.ts';
import type { SupervisedWorker } from './supervised-worker.ts';

export type Asked<Question> = { kind: 'ask'; id: number; question: Question };

export type Answered<Answer> =
  /** It takes questions. */
  | { kind: 'opened' }
  | { kind: 'answer'; id: number; answer: Answer }
  | { kind: 'failed'; id: number; error: Error };

/** Answers each question by `answer`, in the thread that calls this. */
export function answerQuestions<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
): void {
  const port = parentPort;
  invariant(port !== null, 'questions are answered outside of a thread');
  const say = (message: Answered<Answer>) => port.postMessage(message);
  port.on('message', async ({ id, question }: Asked<Question>) => {
    try {
      say({ kind: 'answer', id, answer: await answer(question) });
    } catch (error) {
      say({ kind: 'failed', id, error: error as Error });
    }
  });
  say({ kind: 'opened' });
}

/** Passes the messages of such a thread to the callers that wait for them. */
export function takeAnswer<Question, Answer>(
  thread: SupervisedWorker<Asked<Question>, Answered<Answer>>,
  message: Answered<Answer>,
): void {
  if (message.kind === 'opened') thread.opened();
  else if (message.kind === 'failed') thread.refused(message.id, message.error);
  else thread.answered(message.id, message.answer);
}

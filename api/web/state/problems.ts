/**
 * A failure that no view shows in its own place: a sentence, and the id of the request. It goes
 * with the view. Rule A117 (api/RULES.md).
 */
import { signal } from '@preact/signals';
import { CallError, isOfAbsence } from './call-error.ts';

export type Problem = {
  id: number;
  sentence: string;
  requestId: string | null;
  /** The server did not answer. */
  isOfAbsence: boolean;
};

export const problems = signal<readonly Problem[]>([]);

const SHOWN_MAX = 3;
let last = 0;

export function report(error: unknown): void {
  const problem = { id: ++last, ...problemOf(error), isOfAbsence: isOfAbsence(error) };
  const others = problems.value.filter(({ sentence }) => sentence !== problem.sentence);
  problems.value = [...others, problem].slice(-SHOWN_MAX);
}

export function dismiss(id: number): void {
  problems.value = problems.value.filter((problem) => problem.id !== id);
}

/** The server is back. Rule A120 (api/RULES.md). */
export function dismissAbsences(): void {
  problems.value = problems.value.filter((problem) => !problem.isOfAbsence);
}

export function dismissAll(): void {
  problems.value = [];
}

export function problemOf(error: unknown): Pick<Problem, 'sentence' | 'requestId'> {
  if (error instanceof CallError) return { sentence: error.message, requestId: error.requestId };
  const sentence = error instanceof Error ? error.message : String(error);
  return { sentence, requestId: null };
}

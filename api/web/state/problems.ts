/**
 * A failure that no view shows in its own place: a sentence, and the id of the request. It goes
 * with the view. Rule A117 (api/RULES.md).
 */
import { signal } from '@preact/signals';
import { CallError } from './call-error.ts';

export type Problem = { id: number; sentence: string; requestId: string | null };

export const problems = signal<readonly Problem[]>([]);

const SHOWN_MAX = 3;
let last = 0;

export function report(error: unknown): void {
  const problem = { id: ++last, ...problemOf(error) };
  const others = problems.value.filter(({ sentence }) => sentence !== problem.sentence);
  problems.value = [...others, problem].slice(-SHOWN_MAX);
}

export function dismiss(id: number): void {
  problems.value = problems.value.filter((problem) => problem.id !== id);
}

export function dismissAll(): void {
  problems.value = [];
}

export function problemOf(error: unknown): Omit<Problem, 'id'> {
  if (error instanceof CallError) return { sentence: error.message, requestId: error.requestId };
  const sentence = error instanceof Error ? error.message : String(error);
  return { sentence, requestId: null };
}

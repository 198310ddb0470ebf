/** Checks the files of a history, while a server runs or not. Rules D35, D51 (engine/RULES.md). */
import { existsSync } from 'node:fs';
import { journalProblems } from './journal.ts';
import { segmentProblems, segmentsIn } from './segments.ts';

/** What is wrong, a line each; empty without a history, too. */
export function historyProblems(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const numbers = segmentsIn(directory);
  const last = numbers.at(-1);
  return [
    ...numbers.flatMap((number) => segmentProblems(directory, number, number === last)),
    ...journalProblems(directory),
  ];
}

/** The thread that reads the money of accounts, as Piscina runs it. Rule A95 (api/RULES.md). */
import os from 'node:os';
import type { EquityPoints } from './points.ts';
import { type EquityQuestion, EquityReader } from './reader.ts';

/** On Linux a priority is a thread's own: that of the caller is lowered, and no other. */
os.setPriority(0, os.constants.priority.PRIORITY_LOW);

const reader = new EquityReader();

export function points(question: EquityQuestion): Promise<EquityPoints | null> {
  return reader.points(question);
}

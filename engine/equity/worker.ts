/** The thread that reads the money of accounts. Rule A95 (api/RULES.md). */
import os from 'node:os';
import { answerQuestions } from '../threads/answer-questions.ts';
import { EquityReader } from './reader.ts';

/** On Linux a priority is a thread's own: that of the caller is lowered, and no other. */
os.setPriority(0, os.constants.priority.PRIORITY_LOW);

const reader = new EquityReader();
answerQuestions(reader.points.bind(reader));

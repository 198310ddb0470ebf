/** The thread that reads the money of accounts. Rule A95 (api/RULES.md). */
import os from 'node:os';
import { answerQuestions } from '../threads/answer-questions.ts';
import { EquityReader } from './reader.ts';

/** On Linux each thread has its own priority, so this lowers only the caller's. */
os.setPriority(0, os.constants.priority.PRIORITY_LOW);

const reader = new EquityReader();
answerQuestions(reader.points.bind(reader));

/** The thread that reads the events of accounts. */
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '../base/invariant.ts';
import { type EventAnswer, type EventQuestion, EventReader } from './event-reader.ts';

export type EventsData = { dataDir: string };

/** `opened`: it takes questions. */
export type FromEvents = { kind: 'opened' } | EventAnswer;

const port = parentPort;
invariant(port !== null, 'events are read outside of a thread');
const reader = new EventReader((workerData as EventsData).dataDir, (answer: EventAnswer) => {
  port.postMessage(answer);
});
port.on('message', (question: EventQuestion) => reader.take(question));
port.postMessage({ kind: 'opened' } satisfies FromEvents);

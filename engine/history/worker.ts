/**
 * The thread of the history: it records ticks and answers questions, in the order of their arrival.
 * An error ends it, and the next thread continues from the data on disk.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '../base/invariant.ts';
import type { EpochMs, MarketNumber } from '../base/units.ts';
import { answerOf } from './answers.ts';
import type { Closings } from './market-watch.ts';
import type {
  HistoryAnswer,
  MarketTops,
  Question,
  StoredQuestion,
  StoredRows,
  TopsQuestion,
} from './questions.ts';
import { Recorder, type RecorderConfig } from './recorder.ts';
import { BlockDamage } from './segments.ts';
import { storedRows } from './stored-rows.ts';
import { topsAt } from './tops-at.ts';

export type ToHistory =
  /** `nowMs`: the engine's time; no later tick is before it. */
  | { kind: 'ticks'; batch: ArrayBuffer; nowMs: EpochMs }
  /** Ticks before this message were left out. */
  | { kind: 'missed' }
  | { kind: 'closings'; closings: Closings }
  | { kind: 'resolved'; markets: readonly MarketNumber[] }
  | { kind: 'ask'; id: number; question: Question }
  | { kind: 'ask_stored'; id: number; question: StoredQuestion }
  | { kind: 'ask_tops'; id: number; question: TopsQuestion }
  | { kind: 'barrier'; id: number }
  | { kind: 'close' };

export type FromHistory =
  /** `problems`: damage that was found, one line each. */
  | { kind: 'opened'; problems: readonly string[] }
  | { kind: 'damaged'; problems: readonly string[] }
  /** The size of a message of ticks that was taken. */
  | { kind: 'taken'; bytes: number }
  | { kind: 'answer'; id: number; answer: HistoryAnswer | StoredRows[] | MarketTops[] }
  | { kind: 'failed'; id: number; message: string }
  | { kind: 'closed' };

/** The time whose records a crash of the process loses at most. Rule D53 (engine/RULES.md). */
const FLUSH_EVERY_MS = 1000;
/** The time whose records a crash of the machine loses at most. */
const SYNC_EVERY_MS = 10_000;

const port = parentPort;
invariant(port !== null, 'the history is started outside a thread of its own');
const recorder = new Recorder(workerData as RecorderConfig);
let flushedAtMs = performance.now();
let syncedAtMs = flushedAtMs;

const say = (message: FromHistory) => port.postMessage(message);

function take(message: ToHistory): void {
  switch (message.kind) {
    case 'ticks': {
      const { batch } = message;
      recorder.takePacked(batch);
      recorder.advance(message.nowMs);
      say({ kind: 'taken', bytes: batch.byteLength });
      return flush();
    }
    case 'missed':
      return recorder.missed();
    case 'closings':
      return recorder.setClosings(message.closings);
    case 'resolved':
      return recorder.resolved(message.markets);
    case 'ask':
      return answer(message.id, () => answerOf(recorder, message.question));
    case 'ask_stored':
      return answer(message.id, () => storedRows(recorder, message.question));
    case 'ask_tops':
      return answer(message.id, () => topsAt(recorder, message.question));
    case 'barrier':
      return say({ kind: 'answer', id: message.id, answer: { text: '', next: null } });
    case 'close':
      recorder.close();
      say({ kind: 'closed' });
      return port?.close();
    default:
      message satisfies never;
  }
}

function flush(): void {
  const nowMs = performance.now();
  if (nowMs - flushedAtMs < FLUSH_EVERY_MS) return;
  flushedAtMs = nowMs;
  recorder.flush();
  if (nowMs - syncedAtMs < SYNC_EVERY_MS) return;
  syncedAtMs = nowMs;
  recorder.sync();
}

type Answer = HistoryAnswer | StoredRows[] | MarketTops[];

/** If a question fails, only that question fails. */
function answer(id: number, find: () => Answer): void {
  try {
    say({ kind: 'answer', id, answer: withoutDamage(find) });
  } catch (error) {
    say({ kind: 'failed', id, message: (error as Error).message });
  }
}

/** If a block cannot be read, the question is answered without it. Rule D84 (engine/RULES.md). */
function withoutDamage(find: () => Answer): Answer {
  for (;;) {
    try {
      return find();
    } catch (error) {
      if (!(error instanceof BlockDamage)) throw error;
      recorder.lose(error);
      say({ kind: 'damaged', problems: recorder.store.problems });
    }
  }
}

port.on('message', take);
say({ kind: 'opened', problems: recorder.store.problems });

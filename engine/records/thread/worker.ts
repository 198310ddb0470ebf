/**
 * The thread of the records: it follows the logs and answers questions. An error ends it, and the
 * next thread continues from the data on disk. Rules Y1 to Y7, Y82 (engine/RULES.md).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '../../base/invariant.ts';
import type { EpochMs } from '../../base/units.ts';
import { type Closing, Closings, type WantedClosing } from '../projection/closings.ts';
import { Follower } from '../projection/follower.ts';
import { Instruments } from '../projection/instruments.ts';
import { RecordsModel } from '../projection/model.ts';
import {
  damageText,
  isDamage,
  type Remade,
  recordsFile,
  removeRecords,
} from '../store/database.ts';
import { type Profile, Profiles } from '../store/profiles.ts';
import { Bids, Worth } from '../store/worth.ts';
import type { AnswerOf, QuestionName, QuestionOf } from './questions.ts';
import { RecordsReader } from './reader.ts';

export type RecordsData = { dataDir: string; directory: string; shards: number };

export type ToRecords =
  /** The people who changed, or all of them. */
  | { kind: 'profiles'; profiles: Profile[]; areAll: boolean }
  | { kind: 'bids'; bids: Uint8Array | null }
  | { kind: 'closing'; closing: Closing }
  | { kind: 'time'; nowMs: EpochMs }
  | { kind: 'ask'; id: number; name: QuestionName; question: QuestionOf<QuestionName> }
  | { kind: 'close' };

export type FromRecords =
  /** `remade`: why the file is made again; null: it is continued. `closings`: their problems. */
  | { kind: 'opened'; remade: Remade | null; closings: readonly string[] }
  /** The file is damaged: the thread ends, and the next makes the file again. */
  | { kind: 'damaged'; why: string }
  | { kind: 'current'; problems: string[] }
  | { kind: 'wants_closings'; wanted: WantedClosing[] }
  | { kind: 'answer'; id: number; answer: AnswerOf<QuestionName> }
  /** It cannot be answered now. */
  | { kind: 'busy'; id: number }
  | { kind: 'closed' };

/** How long after a fact is on disk the records have it, at most. */
const POLL_MS = 100;
const ABOUT_ONE = new Set<QuestionName>(['trader', 'open_markets', 'picks', 'scored']);
/** Questions about ranks, which are known once everyone was named. */
const RANKED = new Set<QuestionName>(['trader', 'leaderboard', 'eval']);

const port = parentPort;
invariant(port !== null, 'the records are started outside a thread of their own');
const say = (message: FromRecords) => port.postMessage(message);
const { dataDir, directory, shards } = workerData as RecordsData;

let reader: RecordsReader | null = null;
let profiles: Profiles | null = null;
const model = RecordsModel.open({
  dataDir,
  directory,
  shards,
  onChange: (change) => reader?.note(change),
  onOpened: (trader, id) => profiles?.opened(trader, id),
  onLearned: (isOtherwise) => reader?.learned(isOtherwise),
});
const { database, fold } = model;
const { traders } = fold;
profiles = new Profiles(traders);
const bids = new Bids();
const worth = new Worth(database, traders, bids);
const closings = new Closings(dataDir);
const instruments = new Instruments(database, closings);
reader = new RecordsReader({ database, traders, profiles, worth, instruments });
const follower = new Follower(model, shards);
const asked = new Set<string>();
let timer: NodeJS.Timeout | null = null;
let isClosed = false;

function turn(): void {
  if (isClosed) return;
  const wasCurrent = follower.isCurrent;
  const isEnd = guarded(() => follower.step());
  if (!wasCurrent && follower.isCurrent) say({ kind: 'current', problems: follower.problems() });
  if (isEnd) timer = setTimeout(turn, POLL_MS);
  else setImmediate(turn);
}

function take(message: ToRecords): void {
  // Messages that were posted before `close` was taken arrive all the same.
  if (isClosed) return;
  switch (message.kind) {
    case 'profiles':
      for (const profile of message.profiles) profiles!.set(profile);
      profiles!.areKnown ||= message.areAll;
      return;
    case 'bids':
      return reader!.setBids(message.bids);
    case 'closing':
      return reader!.putClosing(message.closing);
    case 'time':
      return wantClosings(message.nowMs);
    case 'ask':
      return answer(message);
    case 'close':
      return close();
    default:
      message satisfies never;
  }
}

function answer({ id, name, question }: Extract<ToRecords, { kind: 'ask' }>): void {
  const areKnown = profiles!.areKnown || !RANKED.has(name);
  const isAboutOne = ABOUT_ONE.has(name);
  const catchUp = () => follower.catchUp((question as { trader: string }).trader);
  const canAnswer = follower.isCurrent && areKnown && (!isAboutOne || catchUp());
  if (!canAnswer) return say({ kind: 'busy', id });
  say({ kind: 'answer', id, answer: reader!.answer(name, question as never) });
}

/** Asks once for each closing line that is missing. */
function wantClosings(nowMs: EpochMs): void {
  const wanted = instruments.wanted(nowMs).filter(({ market, startsAtMs }) => {
    return !asked.has(`${market} ${startsAtMs}`);
  });
  if (wanted.length === 0) return;
  for (const { market, startsAtMs } of wanted) asked.add(`${market} ${startsAtMs}`);
  say({ kind: 'wants_closings', wanted });
}

function close(): void {
  isClosed = true;
  if (timer !== null) clearTimeout(timer);
  closings.close();
  model.close();
  say({ kind: 'closed' });
  port!.close();
}

/** A damaged file is removed before the thread ends, so that the next thread makes it again. */
function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!isDamage(error)) throw error;
    const why = damageText(recordsFile(directory), error);
    say({ kind: 'damaged', why });
    removeRecords(directory);
    throw new Error(`${why}; it is made again`);
  }
}

port.on('message', (message: ToRecords) => guarded(() => take(message)));
say({ kind: 'opened', remade: model.remade, closings: closings.problems });
turn();

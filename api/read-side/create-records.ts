/**
 * The records of this server. The control store gives them people, the engine live bids, and the
 * history closing lines. Rules Y6, Y7, Y23 (engine/RULES.md), Y71 to Y74 (api/RULES.md).
 */
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EpochMs } from '../../engine/base/units.ts';
import type {
  Closing,
  ClosingQuote,
  WantedClosing,
} from '../../engine/records/projection/closing-lines.ts';
import type { Profile } from '../../engine/records/store/profiles.ts';
import { Records } from '../../engine/records/thread/records.ts';
import type { Log } from '../base/logger.ts';
import type { DataDir } from '../data-dir/data-dir.ts';
import type { ControlStore } from '../identity/store.ts';
import type { User } from '../identity/users.ts';
import type { HistorySource } from './history-source.ts';

type Parts = {
  dataDir: Pick<DataDir, 'path' | 'shards'>;
  identity: ControlStore;
  history: HistorySource;
  engine: { nowMs(): EpochMs };
  log: Log;
  begins: Promise<void>;
};

const PEOPLE_AT_ONCE = 500;

export function createRecords(parts: Parts): Records {
  const { dataDir, identity, history, engine, log, begins } = parts;
  const records = new Records({
    dataDir: dataDir.path,
    directory: path.join(dataDir.path, 'records'),
    shards: dataDir.shards,
    nowMs: () => engine.nowMs(),
    log,
    begins,
    everyone: () => everyone(identity),
    closingOf: (wanted) => closingOf(history, wanted, engine.nowMs()),
  });
  identity.users.onWritten = (user) => records.changed(profileOf(user));
  return records;
}

function profileOf({ id, private: isPrivate, showEarlierTrades }: User): Profile {
  return { id, isPublic: !isPrivate, showsEarlier: showEarlierTrades };
}

/** All people on disk, some at a time; people written meanwhile are passed by `onWritten`. */
async function* everyone({ users }: ControlStore): AsyncGenerator<Profile[]> {
  for (let after = ''; ; ) {
    const page = users.after(after, PEOPLE_AT_ONCE);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.filter(({ private: isPrivate }) => !isPrivate).map(profileOf);
    after = last.id;
    await nextTurn();
  }
}

/** Null: there is no history here that could tell. */
async function closingOf(
  history: HistorySource,
  wanted: WantedClosing,
  nowMs: number,
): Promise<Closing | null> {
  if (history.kind !== 'embedded') return null;
  const { market, startsAtMs } = wanted;
  const answer = await history.ask('server', {
    ...{ kind: 'closing', market, beforeMs: startsAtMs, nowMs },
  });
  return { ...wanted, quote: JSON.parse(answer.text) as ClosingQuote | null };
}

/** Records without a thread: the parts that the worker joins, for a test. */
import path from 'node:path';
import { Closings } from '../../../engine/records/projection/closings.ts';
import { Follower } from '../../../engine/records/projection/follower.ts';
import { Instruments } from '../../../engine/records/projection/instruments.ts';
import { RecordsModel } from '../../../engine/records/projection/model.ts';
import { Profiles } from '../../../engine/records/store/profiles.ts';
import { Bids, Worth } from '../../../engine/records/store/worth.ts';
import { type ReaderParts, RecordsReader } from '../../../engine/records/thread/reader.ts';

export type OpenRecords = ReturnType<typeof openRecordsOf>;

export function openRecordsOf(
  dataDir: string,
  shards: number,
  clock?: () => number,
  limits: Pick<ReaderParts, 'picksAtOnce' | 'changedMax'> = {},
) {
  const directory = path.join(dataDir, 'records');
  const model = RecordsModel.open({
    ...{ dataDir, directory, shards },
    onChange: (change) => reader?.note(change),
    onOpened: (trader, id) => profiles?.opened(trader, id),
    onLearned: (isOtherwise) => reader?.learned(isOtherwise),
  });
  const { database, fold } = model;
  const { traders } = fold;
  const profiles: Profiles = new Profiles(traders);
  const bids = new Bids();
  const worth = new Worth(database, traders, bids);
  const closings = new Closings(dataDir);
  const instruments = new Instruments(database, closings);
  const parts = { database, traders, profiles, worth, instruments, ...limits };
  const reader: RecordsReader = new RecordsReader(
    clock === undefined ? parts : { ...parts, clock },
  );
  const follower = new Follower(model, shards);
  return {
    ...{ model, profiles, bids, closings, instruments, reader, follower },
    close() {
      closings.close();
      model.close();
    },
  };
}

/** To the end of every log. */
export function readAll({ follower }: Pick<OpenRecords, 'follower'>): void {
  while (!follower.step());
}

/**
 * How a start recovers a shard's state: the pages and the index of the newest checkpoint, then the
 * facts after it. Rules D3, D35 (engine/RULES.md).
 */

import { invariant } from '../../base/invariant.ts';
import type { FactBuffer } from '../../format/facts.ts';
import { LogDamage, type LogPosition, offsetOf, segmentOf } from '../../log/log-format.ts';
import type { PlacedRecord } from '../../log/log-reader.ts';
import { segmentName } from '../../log/segment-file.ts';
import type { Event } from '../../rules/events.ts';
import { tablesOf } from '../../rules/state.ts';
import type { StoredState } from '../core/create-state.ts';
import { loadHead, rebuildDerived } from './checkpoint-state.ts';
import type { CheckpointHead, CheckpointReader } from './checkpoint-values.ts';
import { replayFacts } from './replay.ts';

/** The records of a log, from a position on. */
export interface RecordSource {
  readonly lastNumber: number;
  /** The end of the log. */
  readonly tail: LogPosition;
  records(afterNumber: number, from: LogPosition | null): Iterable<PlacedRecord>;
}

/** The number of the last fact in the state, and how much of the log was replayed. */
export type Recovered = { lastNumber: number; records: number; facts: number };
/** `head`: of the checkpoint that it began with; null: there was none. */
export type FromDisk = Recovered & { head: CheckpointHead | null };

/** Loads everything into an empty state. Throws when the log ends before the checkpoint. */
export function recover(
  state: StoredState,
  read: CheckpointReader,
  log: RecordSource,
  facts: FactBuffer,
): FromDisk {
  const head = loadTables(state, read);
  rebuildDerived(state);
  const replayed = replay(state, head, log, facts);
  state.recoveredAtMs = state.nowMs;
  return { ...replayed, head };
}

/** Loads the newest finished checkpoint as it was written; returns its head, if there is one. */
export function loadTables(state: StoredState, read: CheckpointReader): CheckpointHead | null {
  const head = read.readHead();
  if (head === null) return null;
  loadHead(state, head);
  state.records.index.load(head.index);
  for (const table of tablesOf(state)) {
    for (const rows of read.readRows(table.name, head.written)) table.loadRows(rows);
    table.endLoad();
  }
  return head;
}

/** Throws unless the log contains every fact that the checkpoint covers. */
export function checkReach(
  head: CheckpointHead | null,
  { lastNumber, tail }: Pick<RecordSource, 'lastNumber' | 'tail'>,
): void {
  if (head === null || head.facts <= lastNumber) return;
  throw new LogDamage(
    segmentName(segmentOf(tail)),
    offsetOf(tail),
    `it ends with fact ${lastNumber}, and the checkpoint covers ${head.facts}`,
  );
}

/** Replays the facts after a checkpoint; `onEvent` receives each event before it is applied. */
export function replay(
  state: StoredState,
  head: CheckpointHead | null,
  log: RecordSource,
  facts: FactBuffer,
  onEvent?: (event: Event) => void,
): Recovered {
  checkReach(head, log);
  const covered = head?.facts ?? 0;
  const recovered = { lastNumber: covered, records: 0, facts: 0 };
  for (const record of log.records(covered, head?.tail ?? null)) {
    const isNext = record.firstNumber === recovered.lastNumber + 1;
    invariant(isNext, 'a record is played that does not follow the last one');
    facts.begin(record.position, record.firstNumber);
    replayFacts(state, facts, record.payload, onEvent);
    recovered.lastNumber = record.firstNumber + facts.count - 1;
    invariant(facts.count === record.count, 'a record was played to more facts, or fewer');
    recovered.facts += facts.count;
    recovered.records++;
  }
  return recovered;
}

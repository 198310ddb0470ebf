/**
 * The control store of a node of a cluster. As the leader its changes are effective in memory at
 * once, then stored in the cluster, then on disk, then answered. If the cluster refuses them, memory
 * is again as the disk. As a follower it applies the records of the leader. Rules N130 to N135
 * (engine/RULES.md).
 */
import type { ControlReplica, ControlTarget } from '../../engine/replication/control-replica.ts';
import type { LastRecord, StoredRecord } from '../../engine/replication/replicated-record.ts';
import type { Unavailable } from '../../engine/threads/unavailable.ts';
import { type ReplicatedTable, readControlRecord, writeControlRecord } from './control-record.ts';
import type { ControlTables, ControlValues } from './control-tables.ts';
import {
  type Change,
  type ControlWriter,
  keepEndings,
  type PackedChange,
  type ReplicatedWrites,
} from './control-writer.ts';

export type ReplicatedParts = {
  writer: ControlWriter;
  tables: ControlTables;
  values: ControlValues;
  /** What memory has of these rows is gone: they are read from disk. */
  forget: { [N in ReplicatedTable]: (key: string) => void };
  /** This node leads from now on. */
  leads(): void;
  /** Rows of another node have come to disk. It is awaited before this node has applied them. */
  followed(keysOf: (table: ReplicatedTable) => string[]): Promise<void>;
  /** This node leads, and another one says so. Rejects if it shall be said again. */
  heard(name: string, word: string): Promise<void>;
};

type Write = Parameters<ReplicatedWrites['write']>[0];
type Waiting = Write & { resolve(): void; reject(error: unknown): void };

/** A record has the writes of so many callers at most. */
const WRITES_MAX = 256;

export class ReplicatedControl implements ControlTarget, ReplicatedWrites {
  readonly #parts: ReplicatedParts;
  readonly #waiting: Waiting[] = [];
  #log: ControlReplica | null = null;
  #last: LastRecord;
  /** Resolves once nothing waits. */
  #storing: Promise<void> | null = null;

  constructor(parts: ReplicatedParts) {
    this.#parts = parts;
    this.#last = parts.values.get('replicated') ?? { number: 0, checksum: 0 };
  }

  /** Whether these data have been in a cluster. */
  get hasBeenInCluster(): boolean {
    return this.#parts.values.get('replicated') !== undefined;
  }

  /** Says so on disk. Rule O44 (api/RULES.md). */
  async noteCluster(): Promise<void> {
    if (!this.hasBeenInCluster) await this.#commit([], this.#last, this.#parts.writer);
  }

  /** Everything is written by this log from now on. */
  follow(log: ControlReplica): void {
    this.#log = log;
  }

  /** Why nothing is written here now; null: this node leads. */
  refusal(): Unavailable | null {
    return this.#log!.refusal();
  }

  get isCurrent(): boolean {
    return this.#log!.isCurrent;
  }

  get leader(): string | null {
    return this.#log!.refusal()?.leader ?? null;
  }

  last(): LastRecord {
    return this.#last;
  }

  leads(): void {
    this.#parts.leads();
  }

  heard(name: string, word: string): Promise<void> {
    return this.#parts.heard(name, word);
  }

  /** Tells the leader, if etcd answers now. */
  async say(name: string, word: string): Promise<void> {
    await this.#log!.say(name, word);
  }

  /** As `ControlReplica.everywhere`, for the last record here. */
  async everywhere(): Promise<void> {
    await this.#log!.everywhere(this.#last.number);
  }

  problems(): string[] {
    return this.#log!.problems();
  }

  async settled(): Promise<void> {
    await this.#storing;
  }

  /** As `ControlWriter.write`. */
  write(write: Write): Promise<void> {
    const refusal = this.refusal();
    if (refusal !== null) throw refusal;
    try {
      this.#parts.writer.requireRoom(write.packed);
    } catch (error) {
      keepEndings(write.changes);
      throw error;
    }
    for (const change of write.changes) change.keep();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ ...write, resolve, reject });
    this.#storing ??= this.#store().finally(() => {
      this.#storing = null;
    });
    return promise;
  }

  async take({ firstNumber: number, checksum, payload }: StoredRecord): Promise<void> {
    const { writer, tables, values, forget, followed } = this.#parts;
    const changes = readControlRecord(Buffer.from(payload));
    const packed = changes.map(({ table, key, packed: row }) => ({
      table: table === 'values' ? values.table : tables[table],
      ...{ key, packed: row },
    }));
    await this.#commit(packed, { number, checksum }, writer);
    for (const { table, key } of changes) forget[table](key);
    await followed((of) => changes.filter(({ table }) => table === of).map(({ key }) => key));
  }

  async #store(): Promise<void> {
    // The writes of one turn of the event loop are one record.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, WRITES_MAX);
      try {
        await this.#storeBatch(batch.flatMap(({ packed }) => packed));
      } catch (error) {
        this.#undo([...batch, ...this.#waiting.splice(0)], error);
        return;
      }
      for (const { changes } of batch) settle(changes);
      for (const one of batch) this.#answer(one);
    }
  }

  async #storeBatch(packed: readonly PackedChange[]): Promise<void> {
    const log = this.#log!;
    const last = await log.append(writeControlRecord(packed));
    try {
      await this.#commit(packed, last, this.#parts.writer);
    } catch (error) {
      log.stepDown(`a record is not on disk: ${(error as Error).message}`);
      throw error;
    }
    log.applied(last.number);
  }

  /** The rows, and which record has them, in one transaction. */
  async #commit(
    packed: readonly PackedChange[],
    last: LastRecord,
    writer: ControlWriter,
  ): Promise<void> {
    const place = this.#parts.values.packed('replicated', last);
    await writer.flush(writer.begin([...packed, place]));
    this.#last = last;
  }

  #answer({ isEverywhere, resolve, reject }: Waiting): void {
    if (isEverywhere) this.#log!.everywhere(this.#last.number).then(resolve, reject);
    else resolve();
  }

  /** What the log then has of them is applied as a follower does. */
  #undo(writes: readonly Waiting[], error: unknown): void {
    const { forget } = this.#parts;
    for (const { changes, reject } of writes) {
      settle(changes);
      for (const { table, key } of changes) forget[table.name as ReplicatedTable](key);
      reject(error);
    }
  }
}

function settle(changes: readonly Change[]): void {
  for (const change of changes) change.settle?.();
}

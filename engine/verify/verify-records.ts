/**
 * Compares every row of the records with the rows that the facts lead to. What the facts have led
 * to is kept, so that the next verification folds later facts only. Rules D35, D98
 * (engine/RULES.md).
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import {
  advanced,
  type ComparedFold,
  recordsProblems,
  ScratchFold,
} from '../records/projection/check.ts';
import { RecordsModel } from '../records/projection/model.ts';
import { isOfMachine, makePrivate, recordsFile, removeRecords } from '../records/store/database.ts';
import { readKept, type VerifiedFacts, writeKept } from './kept-audit.ts';

export type RecordsKeeping = {
  /** Where the verifications of the directory are kept. */
  directory: string;
  /** This one uses nothing of the last. */
  isWhole: boolean;
  /** By shard: the facts that the last verification has found right, and those of this one. */
  before: readonly (VerifiedFacts | null)[];
  now: readonly (VerifiedFacts | null)[];
};

/** Beside the kept rows: of which facts they are, and the checksum of their file. */
type KeptRecords = { logs: readonly (VerifiedFacts | null)[]; checksum: number };

export type RecordsVerification = {
  problems: string[];
  notes: string[];
  /** Facts that an earlier verification has folded, and this one has not. */
  foldedBefore: number;
};

/** @param keeping null: nothing is kept, and nothing that was kept is used */
export function verifyRecords(
  dataDir: string,
  shards: number,
  keeping: RecordsKeeping | null,
): RecordsVerification {
  if (keeping === null) {
    return { problems: recordsProblems(dataDir, shards), notes: [], foldedBefore: 0 };
  }
  const notes: string[] = [];
  const fold = new KeptFold(dataDir, shards, keeping, notes);
  const problems = recordsProblems(dataDir, shards, fold);
  fold.keep(problems.length === 0);
  return { problems, notes, foldedBefore: fold.foldedBefore };
}

const RECORDS = 'records';
const CHUNK_BYTES = 2 ** 20;

class KeptFold implements ComparedFold {
  readonly #dataDir: string;
  readonly #shards: number;
  readonly #keeping: RecordsKeeping;
  readonly #notes: string[];
  readonly #directory: string;
  readonly #note: string;
  /** Without room for the rows they are made elsewhere. */
  readonly #unkept: ScratchFold;
  /** Another directory for facts that came after those which the shards' check has seen. */
  #scratch: string | null = null;
  #isFolded = false;
  foldedBefore = 0;

  constructor(dataDir: string, shards: number, keeping: RecordsKeeping, notes: string[]) {
    this.#dataDir = dataDir;
    this.#shards = shards;
    this.#keeping = keeping;
    this.#notes = notes;
    this.#directory = path.join(keeping.directory, RECORDS);
    this.#unkept = new ScratchFold(dataDir, shards);
    this.#note = path.join(keeping.directory, `${RECORDS}.verified`);
  }

  at(positions: readonly number[]): RecordsModel {
    try {
      return this.#at(positions);
    } catch (error) {
      if (!isOfMachine(error)) throw error;
      this.#isFolded = false;
      this.foldedBefore = 0;
      this.#notes.push(`the rows cannot be kept: ${(error as Error).message}`);
      return this.#unkept.at(positions);
    }
  }

  release(): void {
    this.#unkept.release();
    if (this.#scratch !== null) rmSync(this.#scratch, { recursive: true });
    this.#scratch = null;
  }

  #at(positions: readonly number[]): RecordsModel {
    if (!this.#mayGoOn()) removeRecords(this.#directory);
    // Until this verification has ended well, there is nothing to go on from.
    rmSync(this.#note, { force: true });
    makePrivate(this.#keeping.directory);
    let model = this.#open(this.#directory);
    const isAhead = model.fold.positions.some(({ fact }, shard) => fact > positions[shard]!);
    if (isAhead) {
      // The records were made again since.
      model.close();
      removeRecords(this.#directory);
      model = this.#open(this.#directory);
    }
    this.foldedBefore = model.fold.positions.reduce((sum, { fact }) => sum + fact, 0);
    const checked = positions.map((fact, shard) => {
      return Math.min(fact, this.#keeping.now[shard]?.facts ?? 0);
    });
    model = advanced(model, checked);
    this.#isFolded = true;
    if (positions.every((fact, shard) => fact === checked[shard])) return model;
    model.close();
    this.#scratch = mkdtempSync(path.join(tmpdir(), 'paperbook-records-'));
    copyFileSync(recordsFile(this.#directory), recordsFile(this.#scratch));
    return advanced(this.#open(this.#scratch), positions);
  }

  /** Keeps the rows if they are those of the records; else the next verification begins at 0. */
  keep(isSame: boolean): void {
    if (isSame && this.#isFolded && this.#keeping.now.every((log) => log !== null)) {
      try {
        const checksum = checksumOf(recordsFile(this.#directory));
        const kept: KeptRecords = { logs: this.#keeping.now, checksum };
        writeKept(this.#note, kept);
        return;
      } catch (error) {
        this.#notes.push(`the rows cannot be kept: ${(error as Error).message}`);
      }
    }
    if (!existsSync(this.#directory)) return;
    rmSync(this.#note, { force: true });
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #mayGoOn(): boolean {
    const { isWhole, before } = this.#keeping;
    if (isWhole) return false;
    try {
      const kept = readKept<KeptRecords>(this.#note);
      if (kept === null) return false;
      const isOfThese =
        kept.logs.length === before.length &&
        kept.logs.every((log, shard) => isSameLog(log, before[shard]!));
      if (!isOfThese) return false;
      const file = recordsFile(this.#directory);
      if (existsSync(file) && checksumOf(file) === kept.checksum) return true;
      this.#notes.push(`${file} is not what was kept; so all facts were folded again`);
    } catch (error) {
      this.#notes.push(`${(error as Error).message}; so all facts were folded again`);
    }
    return false;
  }

  #open(directory: string): RecordsModel {
    const [dataDir, shards] = [this.#dataDir, this.#shards];
    return RecordsModel.open({ dataDir, directory, shards });
  }
}

function isSameLog(one: VerifiedFacts | null, other: VerifiedFacts | null): boolean {
  if (one === null || other === null) return false;
  return one.facts === other.facts && one.digest === other.digest;
}

function checksumOf(file: string): number {
  const bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const fd = openSync(file, 'r');
  try {
    let checksum = 0;
    for (;;) {
      const read = readSync(fd, bytes);
      if (read === 0) return checksum;
      checksum = crc32(bytes.subarray(0, read), checksum);
    }
  } finally {
    closeSync(fd);
  }
}

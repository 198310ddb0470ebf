/**
 * The request counts of a month on disk, as pieces of many counts. A changed count is written
 * again, in a new piece. A value for each count would cost the disk a page, and the thread that
 * answers requests a write, for every account of that second. Rule Q13 (api/RULES.md).
 */
import { ByteReader, ByteWriter } from '../../engine/format/bytes.ts';
import { compile } from '../../engine/format/layout.ts';
import { REQUEST_COUNT, type RequestCount } from './control-format.ts';
import { ControlDamage, type ControlTable } from './control-table.ts';

const LAYOUT = compile(REQUEST_COUNT);
const NUMBER_DIGITS = 10;

export class RequestPieces {
  readonly #table: ControlTable<Uint8Array>;

  constructor(table: ControlTable<Uint8Array>) {
    this.#table = table;
  }

  /**
   * The pieces of a month, `2026-11`, the oldest first. If a count is in several, the last is
   * valid.
   */
  *of(month: string): Generator<{ number: number; counts: RequestCount[] }> {
    const start = `${month}/`;
    for (const { key, value } of this.#table.under(start)) {
      yield { number: Number(key.slice(start.length)), counts: countsIn(key, value) };
    }
  }

  /** Adds pieces and removes others; on disk on return. */
  async replace(
    month: string,
    added: readonly { number: number; bytes: Uint8Array }[],
    removed: readonly number[],
  ): Promise<void> {
    // Begun in one turn of the event loop, and so in one transaction.
    const writes = [
      ...added.map(({ number, bytes }) => this.#table.put(keyOf(month, number), bytes)),
      ...removed.map((number) => this.#table.remove(keyOf(month, number))),
    ];
    await Promise.all(writes);
    await this.#table.flushed;
  }

  /** Drops up to `max` pieces of earlier months; returns how many it dropped. */
  async dropBefore(month: string, max: number): Promise<number> {
    const keys = this.#table.keys({ end: month, limit: max });
    await Promise.all(keys.map((key) => this.#table.remove(key)));
    await this.#table.flushed;
    return keys.length;
  }
}

const writer = new ByteWriter();

/** A piece of these counts, as they are now. */
export function pieceOf(counts: readonly RequestCount[]): Uint8Array {
  writer.begin();
  for (const count of counts) LAYOUT.write(writer, count);
  return writer.copy();
}

function countsIn(key: string, bytes: Uint8Array): RequestCount[] {
  const counts: RequestCount[] = [];
  try {
    for (const from = new ByteReader(bytes); !from.isAtEnd; ) counts.push(LAYOUT.read(from));
  } catch (error) {
    throw new ControlDamage(`requests [${key}]: ${(error as Error).message}`);
  }
  return counts;
}

const keyOf = (month: string, number: number) =>
  `${month}/${String(number).padStart(NUMBER_DIGITS, '0')}`;

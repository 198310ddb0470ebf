/**
 * The orders file of a replay: JSON Lines sorted by `at`, each an order or a cancel of a named
 * account. Rules R2, R3 (feeds/FORMATS.md).
 */
import { createReadStream } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { NestedTooDeep, parseJson } from '../../engine/base/bounded-json.ts';
import type { EpochMs } from '../../engine/base/units.ts';
import { LineSplitter, TOO_LONG } from '../../feeds/file/line-splitter.ts';
import { parseInstant } from '../../feeds/reading/instant.ts';
import { strict } from '../base/common-schemas.ts';
import { valueReader } from '../base/validation.ts';
import type { ReplayRange } from './replay-range.ts';

/** `order` is an order body; a sell may name its position by `sellOf` instead of `tradeId`. */
export type OrderLine = {
  line: number;
  atMs: EpochMs;
  account: string;
  step: { order: Record<string, unknown> } | { cancel: string };
};

const At = Type.String();
const Name = Type.String({ minLength: 1, maxLength: 128 });
const readOrder = valueReader(
  strict({ at: At, account: Name, order: Type.Record(Type.String(), Type.Unknown()) }),
  'field',
);
const readCancel = valueReader(strict({ at: At, account: Name, cancel: Name }), 'field');

/** Lines in file order. Throws `FILE line 3: ...` at the first unreadable one. */
export async function* readOrdersFile(path: string): AsyncGenerator<OrderLine> {
  let number = 0;
  let newestMs = 0;
  for await (const text of linesOf(path)) {
    number++;
    if (text !== TOO_LONG && text.trim() === '') continue;
    let line: OrderLine;
    try {
      line = readLine(number, text);
      if (line.atMs < newestMs) throw new Error('at is earlier than on the line before');
    } catch (error) {
      throw new Error(`${path} line ${number}: ${(error as Error).message}`);
    }
    newestMs = line.atMs;
    yield line;
  }
}

async function* linesOf(path: string): AsyncGenerator<string> {
  try {
    const lines = new LineSplitter();
    const pieces: AsyncIterable<Buffer> = createReadStream(path);
    for await (const piece of pieces) yield* lines.push(piece);
    yield* lines.end();
  } catch (error) {
    throw new Error(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function readLine(line: number, text: string): OrderLine {
  if (text === TOO_LONG) throw new Error('longer than 16 MiB');
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new Error(error instanceof NestedTooDeep ? 'nested too deep' : 'not JSON');
  }
  const isCancel = typeof value === 'object' && value !== null && 'cancel' in value;
  if (isCancel) {
    const { at, account, cancel } = readCancel(value);
    return { line, atMs: instantOf(at), account, step: { cancel } };
  }
  const { at, account, order } = readOrder(value);
  return { line, atMs: instantOf(at), account, step: { order } };
}

/** As in a feed file: leap seconds are refused, because a clock of milliseconds has none. */
function instantOf(at: string): EpochMs {
  const atMs = parseInstant(at);
  if (atMs === null) throw new Error('at must be a date-time with a zone');
  return atMs;
}

/** The orders of a replay in its range of time, each taken once feed time has passed it. */
export class OrdersInTime {
  readonly #range: Pick<ReplayRange, 'fromMs' | 'toMs'>;
  readonly #lines: AsyncGenerator<OrderLine> | null;
  #next: OrderLine | null = null;

  /** `orders`: the file; null: there are none. */
  constructor({
    orders,
    ...range
  }: { orders: string | null } & Pick<ReplayRange, 'fromMs' | 'toMs'>) {
    this.#range = range;
    this.#lines = orders === null ? null : readOrdersFile(orders);
  }

  /** To be called once, and first. @throws Error if the file cannot be read */
  async begin(): Promise<void> {
    this.#next = await this.#following();
  }

  /** When the next order is due; infinite after the last. */
  get nextMs(): EpochMs {
    return this.#next?.atMs ?? Number.POSITIVE_INFINITY;
  }

  /** The orders that are due before this time. */
  async *before(atMs: EpochMs): AsyncGenerator<OrderLine> {
    for (; this.#next !== null && this.#next.atMs < atMs; this.#next = await this.#following()) {
      yield this.#next;
    }
  }

  async #following(): Promise<OrderLine | null> {
    const { fromMs, toMs } = this.#range;
    for (;;) {
      const next = await this.#lines?.next();
      if (next === undefined || next.done === true) return null;
      const { atMs } = next.value;
      if ((fromMs === null || atMs >= fromMs) && (toMs === null || atMs <= toMs)) return next.value;
    }
  }
}

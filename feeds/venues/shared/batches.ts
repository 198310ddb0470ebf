/**
 * Markets subscribed to in batches, by the number of the request, and the handling of refused
 * batches. One bad or superfluous market must not leave the others without a price. Rule W16
 * (feeds/FORMATS.md).
 */
import type { Outgoing } from '../../reading/venue.ts';

const PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 60_000;

type Batch = { markets: readonly string[]; tries: number };

export class Batches {
  readonly #messageOf: (id: number, markets: readonly string[]) => unknown;
  readonly #sent = new Map<number, Batch>();
  #max: number;
  #nextId = 1;

  /** At most `max` markets per batch; a venue that takes fewer shows it. */
  constructor(max: number, messageOf: (id: number, markets: readonly string[]) => unknown) {
    this.#max = max;
    this.#messageOf = messageOf;
  }

  /** A number that no other request of the connection has. */
  nextId(): number {
    return this.#nextId++;
  }

  subscribe(markets: readonly string[]): unknown[] {
    const messages: unknown[] = [];
    for (let first = 0; first < markets.length; first += this.#max) {
      messages.push(this.#send(markets.slice(first, first + this.#max), 0));
    }
    return messages;
  }

  /** The markets that a request subscribed to; undefined: it is not our request. */
  marketsOf(id: unknown): readonly string[] | undefined {
    return this.#sent.get(id as number)?.markets;
  }

  /**
   * The batch had too many: half of it is tried again here, `overflow` needs another connection.
   */
  tooMany(id: number): { send: Outgoing[]; overflow: readonly string[] } {
    const { markets } = this.#take(id);
    const half = Math.floor(markets.length / 2);
    this.#max = Math.max(1, Math.min(this.#max, half));
    const send = half === 0 ? [] : [{ message: this.#send(markets.slice(0, half), 0), afterMs: 0 }];
    return { send, overflow: markets.slice(half) };
  }

  /**
   * A market of the batch was refused: each half is tried alone. A single market is tried again.
   */
  refused(id: number, afterMs: number): Outgoing[] {
    const batch = this.#take(id);
    const half = Math.ceil(batch.markets.length / 2);
    if (half === batch.markets.length) return this.#later(batch);
    return [batch.markets.slice(0, half), batch.markets.slice(half)].map((markets) => {
      return { message: this.#send(markets, batch.tries), afterMs };
    });
  }

  /** The venue could not take the batch now. */
  again(id: number): Outgoing[] {
    return this.#later(this.#take(id));
  }

  /**
   * Subscribes again to the batches that have any of these markets, in place of the earlier ones.
   */
  renewed(markets: readonly string[]): { ended: number; message: unknown }[] {
    const asked = new Set(markets);
    const batches = [...this.#sent].filter(([, batch]) =>
      batch.markets.some((market) => asked.has(market)),
    );
    return batches.map(([ended, batch]) => {
      this.#sent.delete(ended);
      return { ended, message: this.#send(batch.markets, batch.tries) };
    });
  }

  /** A new connection: the learned bound of the venue stays. */
  clear(): void {
    this.#sent.clear();
    this.#nextId = 1;
  }

  #later({ markets, tries }: Batch): Outgoing[] {
    const afterMs = Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** tries);
    return [{ message: this.#send(markets, tries + 1), afterMs }];
  }

  #send(markets: readonly string[], tries: number): unknown {
    const id = this.nextId();
    this.#sent.set(id, { markets, tries });
    return this.#messageOf(id, markets);
  }

  #take(id: number): Batch {
    const batch = this.#sent.get(id)!;
    this.#sent.delete(id);
    return batch;
  }
}

/** The callers' end of the ring of one feed thread, from its start to its end. */
import { type ChannelMemory, Endpoint } from '../../engine/ring/endpoint.ts';

/** Batches handed over before the event loop serves callers. */
const BATCHES_A_TURN = 8;

export class FeedBatches {
  readonly #end: Endpoint;
  /** Takes packed ticks, in memory of their own. */
  readonly #take: (bytes: Buffer) => void;
  #isEnded = false;

  constructor(channel: ChannelMemory, take: (bytes: Buffer) => void) {
    this.#end = new Endpoint(channel, 'shard');
    this.#take = take;
    this.#end.whenNews(this.#wake);
  }

  /** The thread has ended: hands over all that it sent before. */
  end(): void {
    this.#receive(Number.POSITIVE_INFINITY);
    this.#isEnded = true;
    // A sleeper would keep the memory of the ring forever.
    this.#end.wakeOwn();
  }

  readonly #wake = (): void => {
    if (this.#isEnded) return;
    this.#receive(BATCHES_A_TURN);
    this.#end.whenNews(this.#wake);
  };

  #receive(atMost: number): void {
    for (let batches = 0; batches < atMost && this.#end.isReady(); batches++) {
      const { bytes, at, end } = this.#end.next();
      this.#take(Buffer.from(bytes.subarray(at, end)));
    }
  }
}

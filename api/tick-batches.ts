/**
 * Ticks on their way from the feed thread to the callers' thread: packed once, a batch a turn of the
 * event loop, in the order in which they came. Where the other end is behind, the newest quote of a
 * market takes the place of the one that waits. Rules D7, D46 (engine/RULES.md).
 */
import { ByteWriter } from '../engine/format/bytes.ts';
import { writeMessage } from '../engine/format/codec.ts';
import { beginFrame, endFrame } from '../engine/format/frame.ts';
import type { Endpoint } from '../engine/ring/endpoint.ts';
import type { HeartbeatTick, Tick } from '../engine/rules/messages.ts';
import type { SourceNumber } from '../engine/rules/units.ts';
import { Outbox } from '../engine/shard/outbox.ts';

/** A few hundred milliseconds of a busy day; beyond it quotes replace each other. */
const TICKS_MAX = 20_000;
const BATCH_TICKS = 512;
/** The one type of frame in this direction. */
const BATCH = 1;

export class TickBatches {
  readonly #end: Endpoint;
  readonly #outbox = new Outbox(TICKS_MAX);
  /** The last of each connection: they leave behind the ticks, and none is lost in a flood. */
  readonly #heartbeats = new Map<SourceNumber, HeartbeatTick>();
  readonly #writer = new ByteWriter();
  #isScheduled = false;

  constructor(end: Endpoint) {
    this.#end = end;
    void this.#followRoom();
  }

  readonly add = (tick: Tick): void => {
    if (tick.kind === 'heartbeat') this.#heartbeats.set(tick.source, tick);
    else this.#outbox.addTick(tick);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  };

  /** Sends what there is room for. @returns whether that was all. */
  flush(): boolean {
    if (!this.#end.flush()) return false;
    while (this.#outbox.length > 0) {
      this.#send(this.#outbox.take(BATCH_TICKS).messages as Tick[]);
      if (this.#end.isFull) return false;
    }
    if (this.#heartbeats.size > 0) this.#send([...this.#heartbeats.values()]);
    this.#heartbeats.clear();
    return !this.#end.isFull;
  }

  #send(ticks: readonly Tick[]): void {
    const writer = this.#writer;
    writer.begin();
    const start = beginFrame(writer, BATCH);
    for (const tick of ticks) writeMessage(writer, tick);
    endFrame(writer, start);
    this.#end.send(writer.view(0, writer.length));
  }

  /** The other end rings when it has made room. */
  async #followRoom(): Promise<void> {
    for (;;) {
      await this.#end.sleepAsync();
      this.flush();
    }
  }
}

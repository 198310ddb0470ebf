/**
 * Ticks on their way from the feed thread to the callers' thread. They are packed once, a batch per
 * turn of the event loop, in the order of their arrival. If the other end has fallen behind, the
 * newest quote of a market replaces the waiting one. Rules D7, D46 (engine/RULES.md).
 */

import type { EpochMs, SourceNumber } from '../../engine/base/units.ts';
import { ByteWriter } from '../../engine/format/bytes.ts';
import { writeMessage } from '../../engine/format/codec.ts';
import { beginFrame, endFrame } from '../../engine/format/frame.ts';
import type { Endpoint } from '../../engine/ring/endpoint.ts';
import type { HeartbeatTick, Tick } from '../../engine/rules/messages.ts';
import { SendQueue } from '../../engine/shard/callers/send-queue.ts';

/**
 * The ticks of a few hundred milliseconds of a busy day. Above this bound quotes replace each
 * other.
 */
const TICKS_MAX = 20_000;
const BATCH_TICKS = 512;
/** The one type of frame in this direction. */
const BATCH = 1;

export class TickBatches {
  readonly #end: Endpoint;
  readonly #queue = new SendQueue(TICKS_MAX);
  /** Ticks of the batch that is being packed: kept as bytes, no object outlives its frame. */
  #packed = 0;
  #start = 0;
  readonly #isFeedClock: boolean;
  /**
   * The last heartbeat of each connection. They leave after the ticks, and none is lost in a flood.
   */
  readonly #heartbeats = new Map<SourceNumber, HeartbeatTick>();
  /** The time of the newest waiting heartbeat. */
  #heardMs: EpochMs = 0;
  readonly #writer = new ByteWriter();
  #isScheduled = false;

  /** `isFeedClock`: hours can pass within a turn, and each heartbeat ends a silence in its place. */
  constructor(end: Endpoint, isFeedClock: boolean) {
    this.#end = end;
    this.#isFeedClock = isFeedClock;
    void this.#followRoom();
  }

  readonly add = (tick: Tick): void => {
    if (this.#isFeedClock && tick.atMs > this.#heardMs) this.#placeHeartbeats();
    if (tick.kind === 'heartbeat') {
      this.#heartbeats.set(tick.source, tick);
      this.#heardMs = tick.atMs;
    } else this.#place(tick);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  };

  /** Sends as many as there is room for. @returns whether that was all. */
  flush(): boolean {
    if (!this.#end.flush()) return false;
    this.#send();
    while (this.#queue.length > 0) {
      if (this.#end.isFull) return false;
      for (const tick of this.#queue.take(BATCH_TICKS).messages) this.#pack(tick as Tick);
      this.#send();
    }
    if (this.#end.isFull) return false;
    for (const tick of this.#heartbeats.values()) this.#pack(tick);
    this.#heartbeats.clear();
    this.#send();
    return !this.#end.isFull;
  }

  #place(tick: Tick): void {
    if (this.#end.isFull) this.#queue.addTick(tick);
    else this.#pack(tick);
  }

  #placeHeartbeats(): void {
    for (const tick of this.#heartbeats.values()) this.#place(tick);
    this.#heartbeats.clear();
  }

  /** A full batch leaves at once. */
  #pack(tick: Tick): void {
    if (this.#packed === 0) {
      this.#writer.begin();
      this.#start = beginFrame(this.#writer, BATCH);
    }
    writeMessage(this.#writer, tick);
    this.#packed++;
    if (this.#packed === BATCH_TICKS) this.#send();
  }

  #send(): void {
    if (this.#packed === 0) return;
    this.#packed = 0;
    endFrame(this.#writer, this.#start);
    this.#end.send(this.#writer.view(0, this.#writer.length));
  }

  /** The other end rings when it has made room. */
  async #followRoom(): Promise<void> {
    for (;;) {
      await this.#end.sleepAsync();
      this.flush();
    }
  }
}

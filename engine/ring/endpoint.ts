/**
 * One end of a pair of rings. The caller's end asks and never blocks. The shard's end answers, and
 * blocks when there is nothing to do. All bytes sent within one turn are published together, and
 * the other end is woken only if it sleeps.
 */
import { invariant } from '../base/invariant.ts';
import { Bell, bellMemory } from './bell.ts';
import { ByteRing, ringMemory } from './byte-ring.ts';
import { FrameReader } from './frame-reader.ts';

/** Large enough that neither thread waits for the other at a few hundred answers a turn. */
const CAPACITY_BYTES = 1024 * 1024;

export type ChannelMemory = {
  requests: SharedArrayBuffer;
  answers: SharedArrayBuffer;
  callerBell: SharedArrayBuffer;
  shardBell: SharedArrayBuffer;
};

export function channelMemory(capacityBytes = CAPACITY_BYTES): ChannelMemory {
  return {
    requests: ringMemory(capacityBytes),
    answers: ringMemory(capacityBytes),
    callerBell: bellMemory(),
    shardBell: bellMemory(),
  };
}

export class Endpoint {
  readonly #out: ByteRing;
  readonly #in: ByteRing;
  /** This end sleeps on the first bell and wakes the other end with the second. */
  readonly #own: Bell;
  readonly #other: Bell;
  readonly #frames: FrameReader;
  /** Bytes for which the ring had no room. */
  #unsent: Buffer | null = null;
  #unsentAt = 0;

  constructor(memory: ChannelMemory, end: 'caller' | 'shard') {
    const requests = new ByteRing(memory.requests);
    const answers = new ByteRing(memory.answers);
    const callerBell = new Bell(memory.callerBell);
    const shardBell = new Bell(memory.shardBell);
    [this.#out, this.#in] = end === 'caller' ? [requests, answers] : [answers, requests];
    [this.#own, this.#other] = end === 'caller' ? [callerBell, shardBell] : [shardBell, callerBell];
    this.#frames = new FrameReader(this.#in);
  }

  /** Whether a whole frame has arrived. */
  isReady(): boolean {
    const isReady = this.#frames.isReady();
    if (this.#in.takeWanted()) this.#other.ring();
    return isReady;
  }

  /** The next frame, after `isReady`; valid until the next call of `isReady`. */
  next() {
    return this.#frames.next();
  }

  /** True: sent bytes wait for room, and nothing more may be sent before `flush` returns true. */
  get isFull(): boolean {
    return this.#unsent !== null;
  }

  /** Sends whole frames and returns at once. Bytes without room wait for `flush`. */
  send(bytes: Buffer): void {
    invariant(this.#unsent === null, 'a frame is sent into the middle of another');
    const sent = this.#out.write(bytes, 0, bytes.length);
    if (sent < bytes.length) {
      this.#unsent = Buffer.from(bytes.subarray(sent));
      this.#unsentAt = 0;
    }
    this.flush();
  }

  /** Sends bytes that wait for room, as many as fit. False: some still wait. */
  flush(): boolean {
    while (this.#unsent !== null) {
      const { length } = this.#unsent;
      this.#unsentAt += this.#out.write(this.#unsent, this.#unsentAt, length);
      if (this.#unsentAt === length) this.#unsent = null;
      else if (this.#isWithoutRoom()) break;
    }
    this.#publish();
    return this.#unsent === null;
  }

  /** Sends whole frames; blocks the thread until the last of them has room. */
  sendBlocking(bytes: Buffer): void {
    invariant(this.#unsent === null, 'an answer is sent into the middle of another');
    for (let at = 0; ; ) {
      at += this.#out.write(bytes, at, bytes.length);
      this.#publish();
      if (at === bytes.length) return;
      if (this.#isWithoutRoom()) this.#own.sleep(this.#isWithRoom);
    }
  }

  /** Blocks the thread until there may be news. */
  sleep(): void {
    if (!this.isReady()) this.#own.sleep(this.#hasNews);
  }

  /** As `sleep`, while the event loop runs; null: there is news. */
  sleepAsync(): Promise<void> | null {
    return this.isReady() ? null : this.#own.sleepAsync(this.#hasNews);
  }

  /** Calls back once there may be news, always in a later turn of the event loop or at its end. */
  whenNews(callback: () => void): void {
    const sleeping = this.sleepAsync();
    if (sleeping === null) setImmediate(callback);
    else void sleeping.then(callback);
  }

  /** Wakes this end if it sleeps with its event loop running. */
  wakeOwn(): void {
    this.#own.ring();
  }

  /** Wakes the other end for news that is not in a ring. */
  wakeOther(): void {
    this.#other.ring();
  }

  /**
   * For an end that is about to sleep. Asks for room again. The other end may have answered the
   * last request when it had no room, and before this end slept. Then it would not ring once there
   * is some.
   */
  readonly #isWithRoom = () => !this.#isWithoutRoom();
  readonly #hasNews = () => this.#in.waiting > 0 || (this.#unsent !== null && this.#isWithRoom());

  /** Asks for room first, so that the reader rings for all room that it frees from now on. */
  #isWithoutRoom(): boolean {
    this.#out.wantRoom();
    return this.#out.room === 0;
  }

  #publish(): void {
    if (this.#out.publish()) this.#other.ring();
  }
}

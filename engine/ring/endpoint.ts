/**
 * One end of a pair of rings. The caller's end asks and never blocks. The shard's end answers, and
 * blocks when there is nothing to do. All bytes sent within one turn are published together, and
 * the other end is woken only if it sleeps.
 */
import { invariant } from '../base/invariant.ts';
import { Bell, bellMemory } from './bell.ts';
import { ByteRing, clearRing, ringMemory } from './byte-ring.ts';
import { FrameReader } from './frame-reader.ts';

/** Large enough that neither thread waits for the other at a few hundred answers a turn. */
const CAPACITY_BYTES = 1024 * 1024;

export type ChannelMemory = {
  requests: SharedArrayBuffer;
  answers: SharedArrayBuffer;
  callerBell: SharedArrayBuffer;
  shardBell: SharedArrayBuffer;
  /** One word: `ABANDONED` once the caller's thread is gone. */
  status: SharedArrayBuffer;
};

const IN_USE = 0;
const ABANDONED = 1;

/** @param shardBell of another channel with the same shard: one bell wakes it for all of them */
export function channelMemory(
  capacityBytes = CAPACITY_BYTES,
  shardBell = bellMemory(),
): ChannelMemory {
  return {
    requests: ringMemory(capacityBytes),
    answers: ringMemory(capacityBytes),
    callerBell: bellMemory(),
    shardBell,
    status: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
  };
}

/** Tells the shard that the caller's thread is gone. The shard then calls `renewChannel`. */
export function abandonChannel({ status, shardBell }: ChannelMemory): void {
  Atomics.store(new Int32Array(status), 0, ABANDONED);
  new Bell(shardBell).ring();
}

export function isAbandoned({ status }: ChannelMemory): boolean {
  return Atomics.load(new Int32Array(status), 0) === ABANDONED;
}

/** For the shard, whose caller is gone: what the rings have is dropped, and another may call. */
export function renewChannel({ requests, answers, callerBell, status }: ChannelMemory): void {
  for (const memory of [requests, answers]) clearRing(memory);
  new Int32Array(callerBell).fill(0);
  Atomics.store(new Int32Array(status), 0, IN_USE);
}

export class Endpoint {
  readonly #out: ByteRing;
  readonly #in: ByteRing;
  /** This end sleeps on the first bell and wakes the other end with the second. */
  readonly #own: Bell;
  readonly #other: Bell;
  readonly #frames: FrameReader;
  readonly #status: Int32Array;
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
    this.#status = new Int32Array(memory.status);
  }

  /** The caller's thread is gone, and so is what it has sent or waits for. */
  get isAbandoned(): boolean {
    return Atomics.load(this.#status, 0) === ABANDONED;
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

  /**
   * Sends whole frames; blocks the thread until the last of them has room, or the caller's thread
   * is gone.
   */
  sendBlocking(bytes: Buffer): void {
    invariant(this.#unsent === null, 'an answer is sent into the middle of another');
    for (let at = 0; ; ) {
      at += this.#out.write(bytes, at, bytes.length);
      this.#publish();
      if (at === bytes.length) return;
      if (!this.#isWithoutRoom()) continue;
      if (this.isAbandoned) return;
      this.#own.sleep(this.#mayGoOn);
    }
  }

  /** Bytes that have arrived and that `next` has not returned. */
  get unreadBytes(): number {
    return this.#frames.unreadBytes + this.#in.waiting;
  }

  /** Whether bytes have come since `isReady`, or room for bytes that wait for it. */
  hasNews(): boolean {
    return this.#hasNews();
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
  readonly #mayGoOn = () => this.#isWithRoom() || this.isAbandoned;
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

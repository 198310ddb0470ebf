/**
 * When the messages of connections are handled. In one turn of the event loop each account has a
 * share of time, over all its connections, and all of them together have one. Work above the share
 * waits for later turns, in which accounts and connections take turns. So a flood of messages
 * delays only its own account, and its waiting messages are bounded. Rules J34 to J36
 * (api/RULES.md).
 */

/** For one account in one turn. If it takes more, it lacks the difference in the next turns. */
const SHARE_MS = 0.5;
/** Of all accounts in one turn. */
const TURN_MS = 4;
/** For one account: pieces of work, each a message or a channel that begins. */
const PIECES_A_MS = 20;
const PIECES_AT_ONCE = 2000;
/** How long an account that has used its pieces waits for more. */
const PACE_MS = 5;
/** For one account: a client without answers has at most 10,000 calls under way. */
const WAITING_MAX = 16_384;
const WAITING_BYTES_MAX = 4 * 2 ** 20;

/** A connection with waiting work. */
export interface Worker {
  /** Does one piece of it, and returns whether there is another one now. Never throws. */
  step(): boolean;
}

/** The shared state of one account's connections. */
export class Share {
  connections = 0;
  /** Until then it opens none, by `performance.now`. */
  refusedUntilMs = 0;
  /** The time that it took above its share. */
  spentMs = 0;
  /** It has used its pieces of work, and waits for more. */
  isPaused = false;
  /** The workers with work for now, the next one first. */
  readonly ready = new Set<Worker>();
  #messages = 0;
  #bytes = 0;
  #pieces = PIECES_AT_ONCE;
  #countedMs = 0;

  /** Whether it has a piece of work left now. */
  hasPiece(nowMs: number): boolean {
    const more = (nowMs - this.#countedMs) * PIECES_A_MS;
    this.#pieces = Math.min(PIECES_AT_ONCE, this.#pieces + more);
    this.#countedMs = nowMs;
    return this.#pieces >= 1;
  }

  takePiece(): void {
    this.#pieces--;
  }

  /** Whether it can be forgotten. */
  get isUnused(): boolean {
    return this.connections === 0 && this.#messages === 0 && this.spentMs === 0;
  }

  /** A message is to wait: returns whether there is room for it. */
  admit(bytes: number): boolean {
    if (this.#messages === WAITING_MAX || this.#bytes + bytes > WAITING_BYTES_MAX) return false;
    this.#messages++;
    this.#bytes += bytes;
    return true;
  }

  /** A message waits no more. */
  release(bytes: number): void {
    this.#messages--;
    this.#bytes -= bytes;
  }
}

export class Turns {
  /** In this turn, of all. */
  #spentMs = 0;
  readonly #spenders = new Set<Share>();
  readonly #ready = new Set<Share>();
  #isDue = false;
  readonly #next = () => this.#take();
  readonly #nowMs: () => number;

  /** @param nowMs the clock of all times here: `performance.now`, except in a test */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Whether a piece of work may be done now. */
  mayWork(share: Share, nowMs: number): boolean {
    return this.#hasTime(share) && share.hasPiece(nowMs);
  }

  /**
   * A piece of work was done.
   *
   * @param sinceMs when it began, by the same clock
   */
  worked(share: Share, sinceMs: number): void {
    share.takePiece();
    const ms = this.#nowMs() - sinceMs;
    share.spentMs += ms;
    this.#spentMs += ms;
    this.#spenders.add(share);
    this.#schedule();
  }

  /** The worker has work that waits. */
  wake(share: Share, worker: Worker): void {
    share.ready.add(worker);
    if (share.isPaused) return;
    this.#ready.add(share);
    this.#schedule();
  }

  #hasTime({ spentMs }: Share): boolean {
    return spentMs < SHARE_MS && this.#spentMs < TURN_MS;
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#next);
  }

  /** A new turn begins with the waiting workers. */
  #take(): void {
    this.#isDue = false;
    this.#spentMs = 0;
    for (const share of this.#spenders) {
      share.spentMs = Math.max(0, share.spentMs - SHARE_MS);
      if (share.spentMs === 0) this.#spenders.delete(share);
    }
    // A worker that is returned to the end of the set appears again in the same loop.
    for (const share of this.#ready) {
      if (this.#spentMs >= TURN_MS) break;
      if (!this.#hasTime(share)) continue;
      this.#ready.delete(share);
      if (share.hasPiece(this.#nowMs())) this.#work(share);
      else this.#pause(share);
    }
    if (this.#ready.size > 0 || this.#spenders.size > 0) this.#schedule();
  }

  #work(share: Share): void {
    const [worker] = share.ready;
    share.ready.delete(worker!);
    const startedMs = this.#nowMs();
    if (worker!.step()) share.ready.add(worker!);
    this.worked(share, startedMs);
    if (share.ready.size > 0) this.#ready.add(share);
  }

  #pause(share: Share): void {
    share.isPaused = true;
    setTimeout(() => {
      share.isPaused = false;
      this.#ready.add(share);
      this.#schedule();
    }, PACE_MS).unref();
  }
}

/**
 * When the messages of connections are handled. In one turn of the event loop each account has a
 * share of time, over all its connections, and all of them together have one; what is beyond waits for
 * later turns, in which accounts and connections take turns. So a flood of messages delays nobody but
 * its own account, and what waits of an account is bounded. Rules J34 to J36 (api/RULES.md).
 */

/** Of one account in one turn. What it takes beyond that, it lacks in the next ones. */
const SHARE_MS = 0.5;
/** Of all accounts in one turn. */
const TURN_MS = 4;
/** Of one account: pieces of work, each a message or a channel that begins. */
const PIECES_A_MS = 20;
const PIECES_AT_ONCE = 2000;
/** How long one waits that has had its pieces: until there are some again. */
const PACE_MS = 5;
/** Of one account: a client that is not answered yet has at most 10,000 calls under way. */
const WAITING_MAX = 16_384;
const WAITING_BYTES_MAX = 4 * 2 ** 20;

/** What has work that waits: a connection. */
export interface Worker {
  /** Does one piece of it, and returns whether there is another one now. Never throws. */
  step(): boolean;
}

/** What the connections of one account have together. */
export class Share {
  connections = 0;
  /** Until then it opens none, by `performance.now`. */
  refusedUntilMs = 0;
  /** Time that it took, and may not have. */
  spentMs = 0;
  /** It has had its pieces of work, and waits for more. */
  isPaused = false;
  /** Those with work for now, the next one first. */
  readonly ready = new Set<Worker>();
  #messages = 0;
  #bytes = 0;
  #pieces = PIECES_AT_ONCE;
  #countedMs = performance.now();

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

  /** Whether a piece of work may be done now. */
  mayWork(share: Share, nowMs: number): boolean {
    return this.#hasTime(share) && share.hasPiece(nowMs);
  }

  /**
   * A piece of work was done.
   *
   * @param sinceMs when it began, by `performance.now`
   */
  worked(share: Share, sinceMs: number): void {
    share.takePiece();
    const ms = performance.now() - sinceMs;
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

  /** A new turn begins with what waits. */
  #take(): void {
    this.#isDue = false;
    this.#spentMs = 0;
    for (const share of this.#spenders) {
      share.spentMs = Math.max(0, share.spentMs - SHARE_MS);
      if (share.spentMs === 0) this.#spenders.delete(share);
    }
    // One that is given back to the end of the set comes again in the same loop.
    for (const share of this.#ready) {
      if (this.#spentMs >= TURN_MS) break;
      if (!this.#hasTime(share)) continue;
      this.#ready.delete(share);
      if (share.hasPiece(performance.now())) this.#work(share);
      else this.#pause(share);
    }
    if (this.#ready.size > 0 || this.#spenders.size > 0) this.#schedule();
  }

  #work(share: Share): void {
    const [worker] = share.ready;
    share.ready.delete(worker!);
    const startedMs = performance.now();
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

/**
 * Measures the lag of a connection whose prices carry no time. The answer to a ping arrives after
 * everything that waits in the socket. A venue that never answers a ping is not measured. Rule W18
 * (feeds/FORMATS.md).
 */
import type { SocketTimers } from './socket-timers.ts';

/** Applies even to a smaller bound. */
const EVERY_MIN_MS = 100;

export type Probed = {
  /** They belong to the socket and end with it. */
  timers: SocketTimers;
  ping(payload: string): void;
  /** A ping has waited for its answer longer than the bound. */
  late(reason: string): void;
};

export class PingProbe {
  readonly #probed: Probed;
  /** The venue has answered a ping, on this socket or on an earlier one. */
  #doesAnswer = false;
  #isOn = false;
  #sent = 0;
  /** Runs while an answer is awaited. */
  #deadline: NodeJS.Timeout | null = null;

  constructor(probed: Probed) {
    this.#probed = probed;
  }

  /** Pings from now on until the socket ends. An answer is late after `withinMs`. */
  start(withinMs: number): void {
    if (this.#isOn) return;
    this.#isOn = true;
    const { timers } = this.#probed;
    timers.every(Math.max(EVERY_MIN_MS, withinMs / 2), () => this.#ping(withinMs));
    this.#ping(withinMs);
  }

  /** @returns whether a pong answers the last ping; others are the venue's own. */
  answered(payload: string): boolean {
    if (this.#deadline === null || payload !== payloadOf(this.#sent)) return false;
    this.#probed.timers.end(this.#deadline);
    this.#deadline = null;
    this.#doesAnswer = true;
    return true;
  }

  /** The socket has ended, and its timers with it. */
  ended(): void {
    this.#isOn = false;
    this.#deadline = null;
  }

  #ping(withinMs: number): void {
    if (this.#deadline !== null) return;
    const { timers, ping, late } = this.#probed;
    this.#deadline = timers.after(withinMs, () => {
      if (this.#doesAnswer) late(`a ping unanswered for ${withinMs} ms`);
    });
    ping(payloadOf(++this.#sent));
  }
}

function payloadOf(number: number): string {
  return `lag ${number}`;
}

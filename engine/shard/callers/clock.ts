/** The source of the engine's time. Rules C1 to C7 (engine/RULES.md). */
import { invariant } from '../../base/invariant.ts';
import { type EpochMs, isoOf } from '../../base/units.ts';
import type { Log } from '../../threads/log.ts';

/** Never goes back, except by `acceptMachine`. */
export interface Clock {
  nowMs(): EpochMs;
  /** Notes a tick with this time. */
  heartbeat(atMs: EpochMs): void;
  /** The engine's time when it last stopped, whatever the machine's clock says now. */
  startFrom(atMs: EpochMs): void;
  /** The machine's time, uncorrected. */
  machineMs(): EpochMs;
  /**
   * Takes the machine's time at once. Returns by how many milliseconds time went back; below 0:
   * forward.
   */
  acceptMachine(): number;
  /** The problem of the time on one line; null: there is none. */
  problem(): string | null;
}

/** The clocks of a machine. */
export type MachineClock = {
  /** Milliseconds since 1970. A person may set this clock. */
  wallMs(): EpochMs;
  /**
   * Milliseconds since an arbitrary moment. Nobody sets this clock; it may stop while the machine
   * sleeps.
   */
  steadyMs(): number;
};

type WallClockOptions = {
  /** Rule C3 (engine/RULES.md). */
  jumpMaxMs?: number;
  machine?: MachineClock;
  log?: Log;
};

const JUMP_MAX_MS = 3_600_000;
/** How long a larger jump must last before time follows it. */
const JUMP_LASTS_MS = 60_000;
/** Smaller steps are usual corrections. */
const AHEAD_NOTED_MS = 1000;

/** The machine's time. */
export function wallClock(options: WallClockOptions = {}): Clock {
  return new WallClock(options);
}

/**
 * If the machine's time steps back, the engine's time goes on. If it stopped, no quote would grow
 * old and no minute of a trade limit would end until the machine has caught up. If the machine's
 * time jumps forward by more than a bound, the engine's time does not follow until the jump has
 * lasted. A moment in the wrong year would expire every order, and the engine would stay in that
 * year forever.
 */
class WallClock implements Clock {
  readonly #jumpMaxMs: number;
  readonly #machine: MachineClock;
  readonly #log: Log;
  /** The engine's time at one moment of the machine's steady clock. */
  #known: { atMs: EpochMs; steadyMs: number };
  #newestMs: EpochMs;
  /** A refused jump: its size, and when it began on the steady clock. */
  #jump: { byMs: number; sinceMs: number } | null = null;
  #isAhead = false;

  constructor({ jumpMaxMs = JUMP_MAX_MS, machine = MACHINE, log = SILENT }: WallClockOptions) {
    this.#jumpMaxMs = jumpMaxMs;
    this.#machine = machine;
    this.#log = log;
    this.#newestMs = machine.wallMs();
    this.#known = { atMs: this.#newestMs, steadyMs: machine.steadyMs() };
  }

  nowMs(): EpochMs {
    // Read in this order: a pause between the two readings must not look like a step forward.
    const wallMs = this.#machine.wallMs();
    const steadyMs = this.#machine.steadyMs();
    const { atMs, steadyMs: sinceMs } = this.#known;
    const reckonedMs = atMs + Math.floor(steadyMs - sinceMs);
    if (wallMs - reckonedMs > this.#jumpMaxMs) {
      if (!this.#hasLasted(wallMs - reckonedMs, steadyMs)) return this.#goOn(reckonedMs);
      this.#log.info({ engine: isoOf(wallMs) }, 'the new time of the machine has lasted: accepted');
    } else if (this.#jump !== null) {
      this.#log.info({ machine: isoOf(wallMs) }, "the machine's clock is back from its jump");
    }
    this.#jump = null;
    if (wallMs < this.#newestMs) {
      this.#noteAhead(reckonedMs, wallMs);
      return this.#goOn(reckonedMs);
    }
    this.#isAhead = false;
    return this.#set(wallMs, steadyMs);
  }

  heartbeat(): void {}

  startFrom(atMs: EpochMs): void {
    invariant(Number.isSafeInteger(atMs), 'the start of a clock is not in whole milliseconds');
    if (atMs <= this.nowMs()) return;
    this.#set(atMs, this.#machine.steadyMs());
    this.nowMs();
  }

  machineMs(): EpochMs {
    return this.#machine.wallMs();
  }

  acceptMachine(): number {
    const beforeMs = this.nowMs();
    this.#jump = null;
    this.#isAhead = false;
    return beforeMs - this.#set(this.#machine.wallMs(), this.#machine.steadyMs());
  }

  problem(): string | null {
    const nowMs = this.nowMs();
    const machineMs = this.machineMs();
    if (this.#jump !== null) return jumpText(nowMs, machineMs);
    return nowMs - machineMs > AHEAD_NOTED_MS ? aheadText(nowMs, machineMs) : null;
  }

  /** A jump to yet another time must itself last the whole minute. */
  #hasLasted(byMs: number, steadyMs: number): boolean {
    if (this.#jump === null || Math.abs(byMs - this.#jump.byMs) > this.#jumpMaxMs) {
      this.#jump = { byMs, sinceMs: steadyMs };
      const { atMs, steadyMs: sinceMs } = this.#known;
      const nowMs = atMs + Math.floor(steadyMs - sinceMs);
      this.#log.error({ error: jumpText(nowMs, nowMs + byMs) }, 'a jump of the clock is refused');
    }
    return steadyMs - this.#jump.sinceMs >= JUMP_LASTS_MS;
  }

  #noteAhead(nowMs: EpochMs, machineMs: EpochMs): void {
    if (this.#isAhead || nowMs - machineMs <= AHEAD_NOTED_MS) return;
    this.#isAhead = true;
    this.#log.error({ error: aheadText(nowMs, machineMs) }, "the machine's clock is late");
  }

  /** The present time by a clock that nobody has set. */
  #goOn(reckonedMs: EpochMs): EpochMs {
    invariant(reckonedMs >= this.#newestMs, 'time goes back');
    this.#newestMs = reckonedMs;
    return reckonedMs;
  }

  #set(atMs: EpochMs, steadyMs: number): EpochMs {
    this.#known.atMs = atMs;
    this.#known.steadyMs = steadyMs;
    this.#newestMs = atMs;
    return atMs;
  }
}

const MACHINE: MachineClock = { wallMs: Date.now, steadyMs: () => performance.now() };
const SILENT: Log = { info() {}, error() {} };

function jumpText(nowMs: EpochMs, machineMs: EpochMs): string {
  return (
    `clock: the machine's time jumped to ${isoOf(machineMs)}, which counts once it has lasted a ` +
    `minute; the engine's goes on from ${isoOf(nowMs)}`
  );
}

function aheadText(nowMs: EpochMs, machineMs: EpochMs): string {
  return (
    `clock: the engine's time ${isoOf(nowMs)} is ahead of the machine's, ${isoOf(machineMs)}, and ` +
    'goes on from there: see paperbook admin clock'
  );
}

/** The newest time fed: a replayed day trades, expires and settles as it did. */
export function feedClock(): Clock {
  let newestMs = 0;
  const goOnTo = (atMs: EpochMs) => {
    newestMs = Math.max(newestMs, atMs);
  };
  return {
    nowMs: () => newestMs,
    heartbeat: goOnTo,
    startFrom: goOnTo,
    machineMs: Date.now,
    acceptMachine() {
      throw new Error("the feed's clock takes its time from the feed alone");
    },
    problem: () => null,
  };
}

/**
 * Passes on the states of games and markets: a few changes of one at once, then its newest once a
 * second. So a venue that keeps changing a state costs no more than its quotes. A stop of an open
 * market does not wait. Rules W61, W103, W108 (feeds/FORMATS.md).
 */

import type { EpochMs, MarketNumber } from '../../engine/base/units.ts';
import type { GameTick, ResultTick, StatusTick } from '../../engine/rules/messages.ts';

type StateTick = GameTick | StatusTick | ResultTick;

/** So many changes of one game or market within that time are passed on at once. */
const AT_ONCE = 4;
const WITHIN_MS = 1000;

type State = {
  /** As it was passed on last. */
  passed: string;
  /** When that time began, on the steady clock, and how many were passed on in it. */
  beganMs: number;
  count: number;
  /** The states since then; of a game its cancellation too, which is final for its markets. */
  waiting: StateTick[];
};

export type ChangedStatesOptions = {
  sink(tick: StateTick): void;
  /** The time at which frames are taken. */
  nowMs(): EpochMs;
  /** A clock that nobody sets; `performance.now` when left out. */
  steadyMs?(): number;
};

export class ChangedStates {
  readonly #sink: (tick: StateTick) => void;
  readonly #nowMs: () => EpochMs;
  readonly #steadyMs: () => number;
  readonly #states = new Map<string, State>();
  /** The states with something that waits. */
  readonly #late = new Set<State>();

  constructor({ sink, nowMs, steadyMs = () => performance.now() }: ChangedStatesOptions) {
    this.#sink = sink;
    this.#nowMs = nowMs;
    this.#steadyMs = steadyMs;
  }

  /** @returns whether it was passed on; false: it repeats the last state, or waits */
  take(tick: StateTick): boolean {
    const [key, value] = wordsOf(tick);
    const nowMs = this.#steadyMs();
    const known = this.#states.get(key);
    const state = known ?? { passed: '', beganMs: nowMs, count: 0, waiting: [] };
    if (known === undefined) this.#states.set(key, state);
    if (nowMs - state.beganMs >= WITHIN_MS) {
      // Nobody trades by a state that is no longer the newest.
      state.waiting = state.waiting.filter(isFinal);
      this.#pass(state);
      Object.assign(state, { beganMs: nowMs, count: 0 });
    } else if (state.waiting.length === 0 && state.passed === value) return false;
    // Only one stop a second is beyond the bound: what opens the market again has to wait.
    if (state.count < AT_ONCE || isStop(tick, state.passed)) {
      state.count++;
      state.passed = value;
      state.waiting = [];
      this.#late.delete(state);
      this.#sink(tick);
      return true;
    }
    state.waiting = [...state.waiting.filter(isFinal).slice(0, 1), tick];
    this.#late.add(state);
    return false;
  }

  /** Others have given the market a result. Its venue's next word is news, even an equal one. */
  resultGiven(market: MarketNumber): void {
    const state = this.#states.get(`result ${market}`);
    if (state !== undefined) state.passed = '';
  }

  /** Passes on the states that have waited long enough. */
  advance(): void {
    if (this.#late.size === 0) return;
    const nowMs = this.#steadyMs();
    for (const state of this.#late) {
      if (nowMs - state.beganMs < WITHIN_MS) continue;
      state.beganMs = nowMs;
      state.count = state.waiting.length;
      this.#pass(state);
    }
  }

  /**
   * The next state of each game and market is passed on, even an equal one. Waiting states are
   * passed on before it.
   */
  forget(): void {
    this.end();
    this.#states.clear();
  }

  /** Passes on all waiting states. */
  end(): void {
    for (const state of this.#late) this.#pass(state);
  }

  #pass(state: State): void {
    this.#late.delete(state);
    for (const tick of state.waiting) {
      state.passed = wordsOf(tick)[1];
      // Others of a later time were passed on before it.
      this.#sink({ ...tick, atMs: Math.max(tick.atMs, this.#nowMs()) });
    }
    state.waiting = [];
  }
}

/** The key of its game or market, and its state. */
function wordsOf(tick: StateTick): [key: string, value: string] {
  switch (tick.kind) {
    case 'game':
      return [`game ${tick.game}`, tick.status];
    case 'status':
      return [`status ${tick.market}`, tick.status];
    case 'result': {
      const { market, outcome, yesPayoutCents, noPayoutCents } = tick;
      return [`result ${market}`, `${outcome} ${yesPayoutCents} ${noPayoutCents}`];
    }
    default:
      return tick satisfies never;
  }
}

/** Whether orders trade on until the status is passed on. */
function isStop(tick: StateTick, passed: string): boolean {
  return tick.kind === 'status' && tick.status !== 'open' && passed === 'open';
}

const isFinal = (tick: StateTick) => tick.kind === 'game' && tick.status === 'cancelled';

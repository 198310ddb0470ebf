/** The venue's process (../processes/kalshi-venue.ts) as a suite sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Mix } from './kalshi-frames.ts';

/** The market whose size is the time of its frame. */
export const LAG_MARKET = 0;
/** The market whose price moves when it is asked to. */
export const FILL_MARKET = 1;

export type ToVenue =
  | { kind: 'rate'; perSecond: number; markersPerSecond: number; mix: Mix }
  /** Moves the ask of the fill market. */
  | { kind: 'ask'; cents: number }
  /** Sends the lag market's book. */
  | { kind: 'mark' }
  | { kind: 'count' };
export type FromVenue =
  | { kind: 'sent'; atTenths: number }
  /** Of increments and markers; the most bytes that waited in its socket since the last time. */
  | { kind: 'counted'; frames: number; waitingMost: number };

const PROCESS = fileURLToPath(new URL('../processes/kalshi-venue.ts', import.meta.url));

export class KalshiVenue {
  readonly #child: ChildProcess;
  readonly url: string;

  static async start(markets: number): Promise<KalshiVenue> {
    const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const;
    const child = fork(PROCESS, [String(markets)], { stdio: [...stdio] });
    const [text] = (await once(child.stdout!, 'data')) as [Buffer];
    return new KalshiVenue(child, Number(/\d+/.exec(String(text))![0]));
  }

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `ws://127.0.0.1:${port}/trade-api/ws/v2`;
  }

  send(perSecond: number, markersPerSecond: number, mix: Mix = 'recorded'): void {
    this.#tell({ kind: 'rate', perSecond, markersPerSecond, mix });
  }

  /** @returns when it was sent, in tenths of a millisecond. */
  async ask(message: { kind: 'ask'; cents: number } | { kind: 'mark' }): Promise<number> {
    const answer = await this.#answer(message);
    return answer.kind === 'sent' ? answer.atTenths : 0;
  }

  async count(): Promise<{ frames: number; waitingMost: number }> {
    const answer = await this.#answer({ kind: 'count' });
    if (answer.kind !== 'counted') throw new Error('the venue answered something else');
    return answer;
  }

  close(): void {
    this.#child.disconnect();
  }

  async #answer(message: ToVenue): Promise<FromVenue> {
    const answered = once(this.#child, 'message');
    this.#tell(message);
    return (await answered)[0] as FromVenue;
  }

  #tell(message: ToVenue): void {
    this.#child.send(message);
  }
}

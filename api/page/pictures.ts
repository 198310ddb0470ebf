/**
 * Pictures as PNG, drawn by a thread that runs while some are asked for. The last ones are kept, since
 * a link that is shared is read by many at once. Rule A251 (api/RULES.md).
 */
import { type Answered, type Asked, takeAnswer } from '../../engine/threads/answer-questions.ts';
import { type Asker, FairTurns } from '../../engine/threads/fair-turns.ts';
import type { Log } from '../../engine/threads/logger.ts';
import { SupervisedWorker } from '../../engine/threads/supervised-worker.ts';
import { Unavailable } from '../../engine/threads/unavailable.ts';
import { workerUrl } from '../../engine/threads/worker-url.ts';

const RETRY_AFTER_SECONDS = 5;
/** After this long without a picture the thread ends. */
const IDLE_MS = 30_000;
const HEAP_MIB = 128;
/** Of 20 to 40 KB each. */
const KEPT_MAX = 64;
const busy = (reason: string) => new Unavailable(reason, RETRY_AFTER_SECONDS);

export class Pictures {
  readonly #thread: SupervisedWorker<Asked<string>, Answered<Uint8Array>>;
  readonly #turns = new FairTurns({
    of: 'picture',
    atOnce: 1,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
  /** By the SVG, the one that was asked for last at the end. */
  readonly #kept = new Map<string, Promise<Uint8Array>>();

  constructor(log: Log) {
    this.#thread = new SupervisedWorker({
      name: 'picture',
      module: workerUrl(import.meta.url, './picture-thread'),
      workerData: () => null,
      log,
      down: busy('the thread that draws pictures is starting again'),
      closed: new Unavailable('the server is stopping'),
      isUnref: true,
      heap: { mib: HEAP_MIB, over: busy('the picture needs too much memory') },
      idleMs: IDLE_MS,
      take: (message) => takeAnswer(this.#thread, message),
    });
  }

  /** Rejects with `Unavailable` while too many pictures wait for the asker. */
  png(asker: Asker, svg: string): Promise<Uint8Array> {
    const known = this.#kept.get(svg);
    const png =
      known ??
      this.#turns.take(asker, () =>
        this.#thread.ask<Uint8Array>((id) => ({ kind: 'ask', id, question: svg })),
      );
    this.#kept.delete(svg);
    this.#kept.set(svg, png);
    if (known === undefined) this.#keepNoFailure(svg, png);
    return png;
  }

  #keepNoFailure(svg: string, png: Promise<Uint8Array>): void {
    png.catch(() => this.#kept.delete(svg));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(oldest!);
  }

  async close(): Promise<void> {
    await this.#thread.close(null);
  }
}

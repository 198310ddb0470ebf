/** When new data is shown: all of it in one frame, and not in every frame. */

type Options = {
  /** From one pass to the next at least. */
  everyMs: number;
  nowMs(): number;
  later(run: () => void, ms: number): void;
  frame(run: () => void): void;
};

export class Passes {
  readonly #run: (nowMs: number) => void;
  readonly #options: Options;
  #isRequested = false;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(run: (nowMs: number) => void, options: Options) {
    this.#run = run;
    this.#options = options;
  }

  /** A pass is due: in the next frame, unless the last one was a moment ago. */
  request(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    const { everyMs, nowMs, later } = this.#options;
    const waitsMs = this.#lastMs + everyMs - nowMs();
    if (waitsMs > 0) later(() => this.#inFrame(), waitsMs);
    else this.#inFrame();
  }

  #inFrame(): void {
    const { nowMs, frame } = this.#options;
    frame(() => {
      this.#isRequested = false;
      this.#lastMs = nowMs();
      this.#run(this.#lastMs);
    });
  }
}

/** Undoes steps in reverse order, each one even if others fail. */
export class CleanupStack {
  readonly #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  async unwind(): Promise<void> {
    const faults: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      await step().catch((error: unknown) => faults.push(error));
    }
    if (faults.length > 0) throw faults[0];
  }
}

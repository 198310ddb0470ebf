/** The timers of one socket. They end with it. Rule W8 (feeds/FORMATS.md). */
export class SocketTimers {
  readonly #timers = new Set<NodeJS.Timeout>();

  after(ms: number, run: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }

  every(ms: number, run: () => void): void {
    this.#timers.add(setInterval(run, ms));
  }

  end(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#timers.delete(timer);
  }

  endAll(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

/** The engine cannot take a request now: full queue, starting, restarting or stopping. */
export class EngineBusy extends Error {
  readonly retryAfterSeconds: number;

  constructor(reason: string, retryAfterSeconds = 1) {
    super(reason);
    this.name = 'EngineBusy';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** One shared error: in a flood of requests a refusal must be cheap. */
export const AT_ITS_LIMIT = new EngineBusy('the engine is at its limit');

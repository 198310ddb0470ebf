/** The engine, or a thread beside it, cannot take a request now: it is full, starts, or stops. */
export class Unavailable extends Error {
  readonly retryAfterSeconds: number;

  constructor(reason: string, retryAfterSeconds = 1) {
    super(reason);
    this.name = 'Unavailable';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** One shared error: in a flood of requests a refusal must be cheap. */
export const AT_ITS_LIMIT = new Unavailable('the engine is at its limit');

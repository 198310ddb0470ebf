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

/**
 * The cluster stores no more records of this shard's thread, or nobody knows. The next thread starts
 * as a follower. Rule N105 (engine/RULES.md).
 */
export class Deposed extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Deposed';
  }
}

/** Another node leads a shard or the control data, or none does yet. Rules N114, N132 (engine/RULES.md). */
export class NotLeader extends Unavailable {
  /** The address of the node that leads it; null: none is known. */
  readonly leader: string | null;

  constructor(leader: string | null, subject = 'this shard') {
    super(leader === null ? `no node leads ${subject} now` : `another node leads ${subject}`);
    this.name = 'NotLeader';
    this.leader = leader;
  }
}

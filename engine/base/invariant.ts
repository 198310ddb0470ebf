/** A broken promise of our own code. It stops the shard, which restarts from its log. */
export class InvariantError extends Error {
  constructor(message: string) {
    super(`invariant: ${message}`);
    this.name = 'InvariantError';
  }
}

/** Active in every build: a wrong ledger is worse than a stopped one. */
export function invariant(holds: boolean, message: string): asserts holds {
  if (!holds) throw new InvariantError(message);
}

/**
 * The stream connections that orders end with. A shard may be out of reach when a connection ends.
 * It learns at its next start, or once its disk has space, which connections are open. Rules T134,
 * T135 (engine/RULES.md).
 */

import type { EpochMs, StreamConnection, Uuid } from '../../base/units.ts';
import type { Disconnected, Reply } from '../../rules/messages.ts';
import type { Log } from '../../threads/log.ts';

export type StreamConnectionsOptions = {
  /** The message to a shard that starts. */
  open: Set<StreamConnection>;
  /** Null: the shard of the account cannot take it now. */
  deliver(command: Disconnected): Promise<Reply | null>;
  nowMs(): EpochMs;
  log: Log;
};

export class StreamConnections {
  readonly #options: StreamConnectionsOptions;

  constructor(options: StreamConnectionsOptions) {
    this.#options = options;
  }

  /** Called before any order of the connection is placed. */
  opened(connection: StreamConnection): void {
    this.#options.open.add(connection);
  }

  /**
   * Cancels the connection's resting orders in these accounts. A second call cancels orders that
   * were under way.
   */
  ended(connection: StreamConnection, accounts: Iterable<Uuid>): void {
    const { open, deliver, nowMs, log } = this.#options;
    open.delete(connection);
    for (const account of accounts) {
      deliver({ kind: 'disconnected', atMs: nowMs(), account, connection }).catch((error) => {
        log.error({ error: String(error) }, 'orders of a connection were not canceled');
      });
    }
  }
}

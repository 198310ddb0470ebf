/**
 * The orders of a stream connection end with it: the engine cancels its resting orders. Rules J18,
 * J19 (api/RULES.md).
 */
import type { StreamConnection, Uuid } from '../../engine/base/units.ts';
import type { OrderConnections } from '../base/engine.ts';
import type { OrderConnection } from '../dispatch/route.ts';

/** So many heartbeats without a sign of life end a connection. */
const SILENT_HEARTBEATS_MAX = 2;

export class CancelOnDisconnect implements OrderConnection {
  readonly #number: StreamConnection;
  readonly #connections: OrderConnections;
  /** The accounts in which an order of it was placed, or may have been. */
  readonly #accounts = new Set<Uuid>();
  /** Placements that are not answered yet. */
  #underWay = 0;
  #isClosed = false;
  #silentHeartbeats = 0;

  /** @param number that no other connection has or had */
  constructor(number: StreamConnection, connections: OrderConnections) {
    this.#number = number;
    this.#connections = connections;
    connections.opened(number);
  }

  /** A placement begins, which is `answered` once. */
  begun(): void {
    this.#underWay++;
  }

  placing(account: Uuid): StreamConnection {
    this.#accounts.add(account);
    return this.#number;
  }

  answered(): void {
    this.#underWay--;
    // It may have come to rest after the others were canceled.
    if (this.#isClosed && this.#underWay === 0) this.#cancel();
  }

  /** The client sent something. */
  alive(): void {
    this.#silentHeartbeats = 0;
  }

  /** Whether the client has been silent for too long, as of this heartbeat. */
  isSilent(): boolean {
    return this.#silentHeartbeats++ >= SILENT_HEARTBEATS_MAX;
  }

  closed(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #cancel(): void {
    this.#connections.ended(this.#number, this.#accounts);
  }
}

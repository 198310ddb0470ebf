/** The sessions in the control store: in memory, and on disk before a change is answered. */
import type { EpochMs, Uuid } from '../../engine/rules/units.ts';
import type { ControlTable } from './control-table.ts';
import { isIdle, type Session } from './sessions.ts';

/** Beyond so many the oldest session ends. */
const SESSIONS_OF_USER_MAX = 50;
const GUESTS_MAX = 10_000;
const SWEEP_EVERY_MS = 3_600_000;

export class SessionTable {
  readonly #sessions = new Map<Uuid, Session>();
  readonly #byFamily = new Map<string, Uuid>();
  /** In the order of their creation. */
  readonly #ofUser = new Map<Uuid, Set<Uuid>>();
  readonly #guests = new Set<Uuid>();
  readonly #table: ControlTable<Session>;
  #sweptAtMs: EpochMs = 0;

  constructor(table: ControlTable<Session>) {
    this.#table = table;
    // In the order of the ids, which is the order of their creation.
    for (const { value } of table.entries()) this.#keep(value);
  }

  /** The session, unless it has ended. */
  get(id: Uuid, nowMs: EpochMs): Session | undefined {
    const session = this.#sessions.get(id);
    return session === undefined || isIdle(session, nowMs) ? undefined : session;
  }

  byFamily(familyHash: string): Session | undefined {
    return this.#sessions.get(this.#byFamily.get(familyHash) ?? '');
  }

  /** Adds a session, and ends those that are idle or too many. */
  async add(session: Session): Promise<void> {
    const { userId, isGuest, createdAtMs: nowMs } = session;
    const ended = nowMs - this.#sweptAtMs < SWEEP_EVERY_MS ? [] : this.#idle(nowMs);
    const others = isGuest ? this.#guests : (this.#ofUser.get(userId) ?? new Set());
    if (others.size >= (isGuest ? GUESTS_MAX : SESSIONS_OF_USER_MAX)) {
      ended.push(others.values().next().value!);
    }
    await Promise.all([this.end(ended), this.put(session)]);
  }

  /** Replaces a session; effective at once, before it is on disk. */
  async put(session: Session): Promise<void> {
    // Throws at once when the disk is full: the token that was sent remains usable then.
    const written = this.#table.put(session.id, session);
    this.#keep(session);
    await written;
    await this.#table.flushed;
  }

  /** The sessions of a user that have not ended. */
  ofUser(userId: Uuid): Uuid[] {
    return [...(this.#ofUser.get(userId) ?? [])];
  }

  /** Ends sessions; effective at once. */
  async end(ids: Uuid[]): Promise<void> {
    if (ids.length === 0) return;
    for (const id of ids) this.#drop(id);
    await Promise.all(ids.map((id) => this.#table.remove(id)));
    await this.#table.flushed;
  }

  #idle(nowMs: EpochMs): Uuid[] {
    this.#sweptAtMs = nowMs;
    const idle = [...this.#sessions.values()].filter((session) => isIdle(session, nowMs));
    return idle.map(({ id }) => id);
  }

  #keep(session: Session): void {
    const { id, userId, familyHash, isGuest } = session;
    this.#sessions.set(id, session);
    this.#byFamily.set(familyHash, id);
    if (isGuest) this.#guests.add(id);
    const ids = this.#ofUser.get(userId);
    if (ids === undefined) this.#ofUser.set(userId, new Set([id]));
    else ids.add(id);
  }

  #drop(id: Uuid): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    this.#byFamily.delete(session.familyHash);
    this.#guests.delete(id);
    const ids = this.#ofUser.get(session.userId);
    ids?.delete(id);
    if (ids?.size === 0) this.#ofUser.delete(session.userId);
  }
}

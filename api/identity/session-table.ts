/**
 * The sessions in the control store, by id, by the family of their refresh tokens, and by user.
 * Changes are effective at once, and on disk before they are answered.
 */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { type ControlIndexes, entriesOfSession, sessionOwner } from './control-indexes.ts';
import { ControlRows } from './control-rows.ts';
import { ControlDamage, type ControlTable } from './control-table.ts';
import { type Change, type ControlWriter, ending } from './control-writer.ts';
import { isIdle, type Session } from './sessions.ts';

/** Beyond so many the oldest session ends. */
const SESSIONS_OF_USER_MAX = 50;
const GUESTS_MAX = 10_000;
/** Each new session checks so many others, one after the other, and ends the idle ones. */
const SWEPT_AT_ONCE = 20;

export class SessionTable {
  readonly #rows: ControlRows<Session>;
  readonly #indexes: ControlIndexes;
  readonly #writer: ControlWriter;
  /** The session looked at last. */
  #sweptTo: Uuid = '';

  constructor(table: ControlTable<Session>, indexes: ControlIndexes, writer: ControlWriter) {
    this.#rows = new ControlRows(table);
    this.#indexes = indexes;
    this.#writer = writer;
  }

  /** The session, unless it has ended. Throws where it may have ended, and this node still has it. */
  get(id: Uuid, nowMs: EpochMs): Session | undefined {
    this.#writer.requireCurrent();
    const session = this.#rows.get(id);
    return session === undefined || isIdle(session, nowMs) ? undefined : session;
  }

  /** The row is read from disk again: another node has changed it, or a change came to nothing. */
  forget(id: Uuid): void {
    this.#rows.forget(id);
  }

  byFamily(familyHash: string): Session | undefined {
    const id = this.#indexes.sessionFamilies.get(familyHash);
    return id === undefined ? undefined : this.#rows.get(id);
  }

  /** Adds a session, and ends sessions that are idle or too many. */
  async add(session: Session): Promise<void> {
    const ended = this.#idle(session.createdAtMs);
    const others = this.#indexes.sessionOwners.of(sessionOwner(session));
    if (others.size >= (session.isGuest ? GUESTS_MAX : SESSIONS_OF_USER_MAX)) {
      ended.add(others.values().next().value!);
    }
    await this.#writer.write([...this.#removing(ended), ...this.#putting(session)]);
  }

  /** Replaces a session. */
  async put(session: Session): Promise<void> {
    // Throws at once when the disk is full. Then the token that was sent remains usable.
    await this.#writer.write(this.#putting(session));
  }

  /** The sessions of a user that have not ended, the oldest first. */
  ofUser(userId: Uuid): Uuid[] {
    return [...this.#indexes.sessionOwners.of(userId)];
  }

  /** Ends sessions, even if the disk is full. */
  async end(ids: readonly Uuid[]): Promise<void> {
    if (ids.length > 0) await this.#writer.write(this.ending(ids));
  }

  ending(ids: readonly Uuid[]): Change[] {
    return ending(this.#removing(new Set(ids)));
  }

  #putting(session: Session): Change[] {
    const row = this.#rows.putting(session.id, session);
    // The family and the user of an existing session never change.
    if (this.#rows.has(session.id)) return [row];
    return [row, ...this.#indexes.changes(session.id, [], entriesOfSession(session))];
  }

  #removing(ids: ReadonlySet<Uuid>): Change[] {
    return [...ids].flatMap((id) => {
      const session = this.#rows.get(id);
      if (session === undefined) return [];
      const entries = this.#indexes.changes(id, entriesOfSession(session), []);
      return [this.#rows.removing(id), ...entries];
    });
  }

  /** The idle ones of the next few sessions; after the last session it begins with the first. */
  #idle(nowMs: EpochMs): Set<Uuid> {
    const ids = this.#rows.keysAfter(this.#sweptTo, SWEPT_AT_ONCE);
    this.#sweptTo = ids.length < SWEPT_AT_ONCE ? '' : ids.at(-1)!;
    return new Set(ids.filter((id) => this.#isIdle(id, nowMs)));
  }

  #isIdle(id: Uuid, nowMs: EpochMs): boolean {
    try {
      const session = this.#rows.peek(id);
      return session !== undefined && isIdle(session, nowMs);
    } catch (error) {
      // A failure of it does not fail another person's sign-in.
      if (error instanceof ControlDamage) return false;
      throw error;
    }
  }
}

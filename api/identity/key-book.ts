/**
 * The actions of people on their keys: list, create, rotate, revoke. Rules I8 to I14
 * (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { ApiError } from '../base/errors.ts';
import { type Key, type KeyInput, keyStatus, newKey } from './keys.ts';
import type { ControlStore } from './store.ts';

export type RotateInput = { graceHours?: number; expiresInDays?: number };
export type MadeKey = { key: Key; token: string };

const ACTIVE_KEYS_MAX = 10;
/** Counts rotations too; otherwise rotating keys could accumulate without end. */
const CREATED_A_DAY_MAX = 20;
const DEFAULT_GRACE_HOURS = 24;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export class KeyBook {
  readonly #store: ControlStore;
  readonly #isTradingOn: () => boolean;

  constructor(store: ControlStore, isTradingOn: () => boolean) {
    this.#store = store;
    this.#isTradingOn = isTradingOn;
  }

  /** Creates a key, on disk on return. Throws `scope_not_available` and the two limits. */
  async create(
    userId: Uuid,
    input: KeyInput,
    via: Key['createdVia'],
    nowMs: EpochMs,
  ): Promise<MadeKey> {
    const wantsTrading = input.scopes?.some((scope) => scope.startsWith('trade:')) ?? false;
    if (wantsTrading && !this.#isTradingOn()) throw new ApiError('scope_not_available');
    const keys = this.#store.keysOf(userId);
    const active = keys.filter((key) => keyStatus(key, nowMs) === 'active');
    if (active.length >= ACTIVE_KEYS_MAX) throw new ApiError('key_limit_reached');
    refuseOneTooMany(keys, nowMs);
    const made = newKey(userId, input, via, nowMs);
    await this.#store.putKeys([made.key]);
    return made;
  }

  /**
   * Creates a key that replaces an active one. The old key works for the grace time, but not past
   * its own expiry. The new key has the label, the scopes and, by default, the lifetime of the old.
   * Throws `key_not_found` and `key_creation_limited`.
   */
  async rotate(
    userId: Uuid,
    id: Uuid,
    { graceHours = DEFAULT_GRACE_HOURS, expiresInDays }: RotateInput,
    via: Key['createdVia'],
    nowMs: EpochMs,
  ): Promise<MadeKey & { rotated: Key }> {
    const old = this.#ownKey(userId, id);
    if (keyStatus(old, nowMs) !== 'active') throw new ApiError('key_not_found');
    refuseOneTooMany(this.#store.keysOf(userId), nowMs);
    const { label, scopes } = old;
    const made = newKey(userId, { label, scopes }, via, nowMs);
    const key: Key = { ...made.key, rotatedFrom: old.id };
    if (expiresInDays !== undefined) key.expiresAtMs = nowMs + expiresInDays * DAY_MS;
    else if (old.expiresAtMs !== null) key.expiresAtMs = nowMs + old.expiresAtMs - old.createdAtMs;
    const graceEndsMs = nowMs + graceHours * HOUR_MS;
    const expiresAtMs = Math.min(old.expiresAtMs ?? graceEndsMs, graceEndsMs);
    const rotated: Key = { ...old, rotatedAtMs: nowMs, expiresAtMs };
    await this.#store.putKeys([key, rotated]);
    return { key, token: made.token, rotated };
  }

  /** Revokes a key at once. Throws `key_not_found` if it has ended already. */
  async revoke(userId: Uuid, id: Uuid, nowMs: EpochMs): Promise<Key> {
    const key = this.#ownKey(userId, id);
    const status = keyStatus(key, nowMs);
    if (status === 'revoked' || status === 'expired') throw new ApiError('key_not_found');
    const revoked: Key = { ...key, revokedAtMs: nowMs };
    await this.#store.putKeys([revoked]);
    return revoked;
  }

  /** Throws `key_not_found` for another user's key too. */
  #ownKey(userId: Uuid, id: Uuid): Key {
    const key = this.#store.keys.get(id);
    if (key === undefined || key.userId !== userId) throw new ApiError('key_not_found');
    return key;
  }
}

/** Rule I11 (api/RULES.md). */
function refuseOneTooMany(keys: readonly Key[], nowMs: EpochMs): void {
  const dayStartMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const today = keys.filter(({ createdAtMs }) => createdAtMs >= dayStartMs);
  if (today.length < CREATED_A_DAY_MAX) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((dayStartMs + DAY_MS - nowMs) / 1000));
  throw new ApiError('key_creation_limited', { retryAfterSeconds });
}

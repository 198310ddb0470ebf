/**
 * Codes that sign a user in once, as a link of a mail does with GoTrue. Only their hashes are kept,
 * in memory, and only the demo issues them. Rule I44 (api/RULES.md).
 */
import { randomBytes } from 'node:crypto';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { hashOfToken } from './keys.ts';

/** A code is valid for so long. */
export const CODE_VALID_MS = 10 * 60_000;
/** As many random bits as a key has, so that no slower hash is needed. */
const CODE_BYTES = 32;

export class OneTimeCodes {
  /** By the hash of the code. */
  readonly #issued = new Map<string, { userId: Uuid; endsAtMs: EpochMs }>();

  /** A code for the user. It is stored nowhere. */
  issue(userId: Uuid, nowMs: EpochMs): string {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    this.#issued.set(hashOfToken(code), { userId, endsAtMs: nowMs + CODE_VALID_MS });
    return code;
  }

  has(code: string, nowMs: EpochMs): boolean {
    return nowMs < (this.#issued.get(hashOfToken(code))?.endsAtMs ?? 0);
  }

  /** Uses the code up. Null: it was never issued, is used, or is too old. */
  take(code: string, nowMs: EpochMs): Uuid | null {
    const hash = hashOfToken(code);
    const issued = this.#issued.get(hash);
    this.#issued.delete(hash);
    return issued === undefined || nowMs >= issued.endsAtMs ? null : issued.userId;
  }
}

/**
 * The keys that a further listener serves by itself. The main thread grants each one with its owner.
 * A grant ends at once when the row of either changes: its number in shared memory tells so at each
 * request. Rules A19, A131 (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import type { Realism } from '../../engine/rules/realism.ts';
import type { ExecutionVenue } from '../base/common-schemas.ts';
import { CredentialVersions } from '../identity/credential-versions.ts';
import { isUsable } from '../identity/keys.ts';
import type { Grant, SentCredential } from './messages.ts';

const KEPT_MS = 60_000;
const KEPT_MAX = 100_000;
const CHARACTERS_MAX = 256;

export class Grants {
  readonly #versions: CredentialVersions;
  /** By the credential headers as sent, of this minute and of the one before. */
  #recent = new Map<string, Grant>();
  #earlier = new Map<string, Grant>();
  #minute = 0;
  /** The last grant of each key, by its id, and of each user, by that of the user. */
  readonly #latest = new Map<Uuid, Grant>();

  constructor(memory: SharedArrayBuffer) {
    this.#versions = new CredentialVersions(memory);
  }

  /** How many credentials are known now. */
  get size(): number {
    return this.#recent.size + this.#earlier.size;
  }

  add(sent: SentCredential, grant: Grant): void {
    const name = nameOf(sent);
    if (name.length > CHARACTERS_MAX || this.#recent.size >= KEPT_MAX) return;
    this.#recent.set(name, grant);
    this.renew(grant);
  }

  /** The last grant of a key that is present; undefined: there is none. */
  ofKey(id: Uuid): Grant | undefined {
    const grant = this.#latest.get(id);
    return grant !== undefined && this.isPresent(grant) ? grant : undefined;
  }

  /** A new grant for the same key, in place of one that has ended. */
  renew(grant: Grant): void {
    this.#latest.set(grant.caller.key.id, grant);
    this.#latest.set(grant.caller.user.id, grant);
  }

  /** Whether a granted user has a credential at a venue; undefined: there is none. */
  venueKey(userId: Uuid, venue: ExecutionVenue): ExecutionVenue | undefined {
    return this.#latest.get(userId)?.venueKeys.find((each) => each === venue);
  }

  /** What a granted user has chosen for their account; null: the preset `simple`. */
  realismOf(userId: Uuid): Realism | null {
    return this.#latest.get(userId)?.realism ?? null;
  }

  /** Null: the main thread must say who the caller is. */
  find(sent: SentCredential, nowMs: EpochMs): Grant | null {
    this.#forget(nowMs);
    const name = nameOf(sent);
    let grant = this.#recent.get(name);
    if (grant === undefined) {
      grant = this.#earlier.get(name);
      if (grant === undefined) return null;
      this.#earlier.delete(name);
      this.#recent.set(name, grant);
    }
    if (this.isPresent(grant) && isUsable(grant.caller.key, nowMs)) return grant;
    this.#recent.delete(name);
    return null;
  }

  /** Whether the rows of user and key are as they were granted. */
  isPresent({ caller, versions }: Grant): boolean {
    const { user, key } = caller;
    return (
      this.#versions.of(user.id) === versions.user && this.#versions.of(key.id) === versions.key
    );
  }

  /** What is not used from one minute to the end of the next is forgotten. */
  #forget(nowMs: EpochMs): void {
    const minute = Math.floor(nowMs / KEPT_MS);
    if (minute === this.#minute) return;
    this.#minute = minute;
    this.#earlier = this.#recent;
    this.#recent = new Map();
    // A request that is under way still needs the last grants.
    const kept = new Set(this.#earlier.values());
    for (const [id, grant] of this.#latest) if (!kept.has(grant)) this.#latest.delete(id);
  }
}

function nameOf({ authorization, ownHeader }: SentCredential): string {
  return ownHeader === '' ? authorization : `${authorization}\n${ownHeader}`;
}

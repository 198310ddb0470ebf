/**
 * The key pairs of people for the venue's own API: the control store's table, and making and ending
 * them. The private key is shown once. Rules A200, A201 (api/RULES.md).
 */
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { ApiError } from '../base/errors.ts';
import { newUuid } from '../base/uuid.ts';
import { ControlRows } from './control-rows.ts';
import { ControlDamage } from './control-table.ts';
import type { ControlTables } from './control-tables.ts';
import { type ControlWriter, ending } from './control-writer.ts';
import { OwnedIds, ownedKey } from './owned-ids.ts';
import type { VenueApiKey } from './venue-api-keys.ts';

const KEYS_MAX = 10;
const MODULUS_BITS = 2048;

export class VenueApiKeyTable {
  readonly #rows: ControlRows<VenueApiKey>;
  readonly #owners: OwnedIds;
  readonly #writer: ControlWriter;

  constructor(
    tables: Pick<ControlTables, 'venueApiKeys' | 'venueApiKeyOwners'>,
    writer: ControlWriter,
  ) {
    this.#rows = new ControlRows(tables.venueApiKeys);
    this.#owners = new OwnedIds(tables.venueApiKeyOwners);
    this.#writer = writer;
  }

  /** Throws `ControlDamage`, and where a pair may have ended that this node still has. */
  get(id: Uuid): VenueApiKey | undefined {
    this.#writer.requireCurrent();
    return this.#rows.get(id);
  }

  /** The row is read from disk again: another node has changed it, or a change came to nothing. */
  forget(id: Uuid): void {
    this.#rows.forget(id);
  }

  /** The same of the pairs of an owner. */
  forgetOwned(key: string): void {
    this.#owners.forget(key);
  }

  /** A person's keys, the oldest first. Throws `ControlDamage`. */
  of(userId: Uuid): VenueApiKey[] {
    return [...this.#owners.of(userId)].map((id) => {
      const key = this.#rows.get(id);
      if (key === undefined) throw new ControlDamage(`venueApiKeys [${id}] is missing`);
      return key;
    });
  }

  /** On disk on return. */
  async add(key: VenueApiKey): Promise<void> {
    const { id, userId } = key;
    await this.#writer.write([
      this.#rows.putting(id, key),
      this.#owners.putting(ownedKey(userId, id), id),
    ]);
  }

  /** It signs nothing from now on, even if the disk is full. */
  async remove({ id, userId }: VenueApiKey): Promise<void> {
    const changes = [this.#rows.removing(id), this.#owners.removing(ownedKey(userId, id))];
    await this.#writer.write(ending(changes));
  }
}

/** A new pair, whose private key is stored nowhere. */
export type MadePair = { key: VenueApiKey; privateKeyPem: string };

const makePair = promisify(generateKeyPair);

/** The actions of people on their pairs. */
export class VenueApiKeyBook {
  readonly #store: { venueApiKeys: VenueApiKeyTable };
  /** The pairs that are being made or wait for that, by person: one at a time is made. */
  readonly #making = new Map<Uuid, { count: number; last: Promise<unknown> }>();

  constructor(store: { venueApiKeys: VenueApiKeyTable }) {
    this.#store = store;
  }

  /** Makes a pair on another thread. Throws `key_limit_reached`. */
  async create(userId: Uuid, label: string, nowMs: EpochMs): Promise<MadePair> {
    const making = this.#making.get(userId) ?? { count: 0, last: Promise.resolve() };
    if (this.#store.venueApiKeys.of(userId).length + making.count >= KEYS_MAX) {
      throw new ApiError('key_limit_reached', {
        message: `The account holds ${KEYS_MAX} venue keys already.`,
      });
    }
    const made = making.last.then(() => this.#make(userId, label, nowMs));
    making.last = made.catch(() => undefined);
    making.count++;
    this.#making.set(userId, making);
    try {
      return await made;
    } finally {
      making.count--;
      if (making.count === 0) this.#making.delete(userId);
    }
  }

  async #make(userId: Uuid, label: string, nowMs: EpochMs): Promise<MadePair> {
    const { publicKey, privateKey } = await makePair('rsa', {
      modulusLength: MODULUS_BITS,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      // As the venue hands it out.
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    const key: VenueApiKey = {
      ...{ id: newUuid(nowMs), userId, label: label === '' ? 'Untitled key' : label },
      ...{ publicKeyPem: publicKey, createdAtMs: nowMs },
    };
    await this.#store.venueApiKeys.add(key);
    return { key, privateKeyPem: privateKey };
  }

  /** Ends a pair at once. Throws `key_not_found`, also for another person's. */
  async revoke(userId: Uuid, id: Uuid): Promise<VenueApiKey> {
    const key = this.#store.venueApiKeys.get(id);
    if (key === undefined || key.userId !== userId) throw new ApiError('key_not_found');
    await this.#store.venueApiKeys.remove(key);
    return key;
  }
}

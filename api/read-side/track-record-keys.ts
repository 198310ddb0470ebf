/**
 * The keys of signed track records. The private one is at DATA_DIR/track-record-key.json, readable
 * by its owner only. Every public one is at DATA_DIR/track-record-keys.json. A public key is on
 * disk before it signs. Rules Y66, Y67, D86 (engine/RULES.md).
 */
import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  jwkOf,
  newPrivateKey,
  type TrackRecordJwk,
  type TrackRecordKey,
  trackRecordKey,
} from '../../engine/records/track-record/track-record-signature.ts';
import { readChecked, writeChecked } from '../data-dir/checked-file.ts';
import { metaOf, writeMeta } from '../data-dir/data-dir.ts';
import { DataDirError } from '../data-dir/directory-files.ts';

const SECRET = 'track-record-key.json';
const PUBLIC = 'track-record-keys.json';

/** The private key in use, as a JWK, and the public keys of all that ever signed, the oldest first. */
export type KeysOfRecords = {
  privateKey: JsonWebKey;
  publicKeys: readonly string[];
};

export class TrackRecordKeys {
  readonly #dataDir: string;
  #share: () => Promise<void> = () => Promise.resolve();
  #current: TrackRecordKey;
  #publicKeys: readonly string[];
  readonly #problems: readonly string[];

  /**
   * The keys of a data directory. If the private key is missing, it is that of `others`; null: a new
   * one.
   */
  constructor(dataDir: string, others: KeysOfRecords | null = null) {
    this.#dataDir = dataDir;
    this.#publicKeys = readPublic(dataDir);
    this.#problems = lostKeys(dataDir);
    const known = readSecret(dataDir);
    if (known !== null) this.#current = trackRecordKey(known);
    else if (others === null) this.#current = this.#make();
    else this.#current = this.#use(others);
    this.#publish(this.#current.publicKey, false);
  }

  /** What other nodes of a cluster need to sign and to publish the same. */
  get shared(): KeysOfRecords {
    const privateKey = this.#current.privateKey.export({ format: 'jwk' }) as JsonWebKey;
    return { privateKey, publicKeys: this.#publicKeys };
  }

  /**
   * The keys of other nodes. If they know this node's key, theirs is newer and signs from now on. Throws
   * an error for the operator if neither knows the key of the other.
   */
  take(others: KeysOfRecords): void {
    const theirs = trackRecordKey(createPrivateKey({ key: others.privateKey, format: 'jwk' }));
    const own = this.#current.publicKey;
    if (theirs.publicKey !== own && others.publicKeys.includes(own)) {
      this.#current = this.#use(others);
    } else if (this.#publicKeys.includes(theirs.publicKey)) {
      for (const key of others.publicKeys) this.#publish(key, false);
    } else {
      throw new Error(
        `${SECRET} of this node has another key than the cluster, and none of its earlier keys: ` +
          'remove the file, and a start takes the key of the cluster',
      );
    }
  }

  /** A change of the key is answered once `share` has told the others. */
  shareBy(share: () => Promise<void>): void {
    this.#share = share;
  }

  /** The key that signs new records. */
  get current(): TrackRecordKey {
    return this.#current;
  }

  /** The newest first. */
  jwks(): { keys: TrackRecordJwk[] } {
    return { keys: [...this.#publicKeys].reverse().map(jwkOf) };
  }

  /** A new key signs from now on. The private key before is gone, and its public part stays. */
  async rotate(): Promise<TrackRecordKey> {
    const made = this.#make();
    this.#current = made;
    await this.#share();
    return made;
  }

  #use({ privateKey, publicKeys }: KeysOfRecords): TrackRecordKey {
    const key = trackRecordKey(createPrivateKey({ key: privateKey, format: 'jwk' }));
    for (const known of publicKeys) this.#publish(known, false);
    writeChecked(this.#dataDir, SECRET, privateKey);
    return key;
  }

  #make(): TrackRecordKey {
    const privateKey = newPrivateKey();
    const key = trackRecordKey(privateKey);
    this.#publish(key.publicKey, true);
    writeChecked(this.#dataDir, SECRET, privateKey.export({ format: 'jwk' }));
    return key;
  }

  /** The problems of the earlier keys, one per line. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  #publish(publicKey: string, isNew: boolean): void {
    if (this.#publicKeys.includes(publicKey)) return;
    this.#publicKeys = [...this.#publicKeys, publicKey];
    writeChecked(this.#dataDir, PUBLIC, { publicKeys: this.#publicKeys });
    const meta = metaOf(this.#dataDir);
    const had = meta.trackRecordKeys ?? 0;
    // The key of an existing private file was counted when it was made.
    const trackRecordKeys = isNew ? had + 1 : Math.max(had, this.#publicKeys.length);
    writeMeta(this.#dataDir, { ...meta, trackRecordKeys });
  }
}

/** Lost public keys: records that they signed verify no more. A line, or none. */
export function lostKeys(dataDir: string): string[] {
  const had = metaOf(dataDir).trackRecordKeys ?? 0;
  const has = readPublic(dataDir).length;
  if (has >= had) return [];
  return [`${PUBLIC} has ${has} of the ${had} keys that have signed track records`];
}

function readSecret(dataDir: string): KeyObject | null {
  const file = path.join(dataDir, SECRET);
  if (!existsSync(file)) return null;
  try {
    const jwk = readChecked(dataDir, SECRET) as { kty: string; crv: string; x: string; d: string };
    const key = createPrivateKey({ key: jwk, format: 'jwk' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (error) {
    if (error instanceof DataDirError) throw error;
    // The library's own message could quote the key.
  }
  throw new DataDirError(`${file} does not hold the key that signs track records`);
}

function readPublic(dataDir: string): readonly string[] {
  const { publicKeys = [] } = (readChecked(dataDir, PUBLIC) ?? {}) as { publicKeys?: unknown };
  const isKeys =
    Array.isArray(publicKeys) &&
    publicKeys.every((key) => typeof key === 'string' && /^[\w-]{43}$/.test(key));
  if (isKeys) return publicKeys;
  throw new DataDirError(
    `${path.join(dataDir, PUBLIC)} does not hold public keys of track records`,
  );
}

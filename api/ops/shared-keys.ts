/**
 * The keys that sign access tokens and track records, which all nodes of a cluster share. They are files
 * of each data directory, and secrets of the cluster in etcd. Rules N118, N119 (engine/RULES.md).
 */
import type { JsonWebKey } from 'node:crypto';
import { EtcdFailure } from '../../engine/replication/etcd-client.ts';
import type { ClusterSecrets } from '../../engine/replication/secrets.ts';
import { Unavailable } from '../../engine/threads/unavailable.ts';
import type { Log } from '../base/logger.ts';
import { readChecked, writeChecked } from '../data-dir/checked-file.ts';
import { ensureSigningKey } from '../identity/signing-key.ts';
import { type KeysOfRecords, TrackRecordKeys } from '../read-side/track-record-keys.ts';

const AUTH = 'auth-key.json';
const LOOK_EVERY_MS = 15_000;

export type SharedKeysParts = {
  secrets: ClusterSecrets;
  dataDir: string;
  /** Whether this server signs access tokens. */
  signsTokens: boolean;
  log: Pick<Log, 'warn'>;
};

export class SharedKeys {
  readonly #parts: SharedKeysParts;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SharedKeysParts) {
    this.#parts = parts;
  }

  /**
   * At a start, before anything is signed: this node has the cluster's keys, or the cluster this node's
   * if it had none. Throws an error for the operator for a node with other keys, and `EtcdFailure`.
   */
  async join(): Promise<void> {
    if (this.#parts.signsTokens) await this.#joinAuth();
    const { secrets, dataDir } = this.#parts;
    const kept = await secrets.get('track-record');
    const keys = new TrackRecordKeys(dataDir, (kept?.value as KeysOfRecords | undefined) ?? null);
    await this.#exchange(keys);
  }

  /** Keys that change on any node are everyone's, soon. @returns what gives a change to the others */
  follow(keys: TrackRecordKeys): () => Promise<void> {
    const exchange = () => this.#exchange(keys);
    this.#timer = setInterval(() => {
      exchange().catch((error: unknown) => {
        if (error instanceof EtcdFailure) return;
        this.#parts.log.warn({ error: String(error) }, 'the keys of track records are not shared');
      });
    }, LOOK_EVERY_MS);
    this.#timer.unref();
    return async () => {
      await exchange().catch((error: unknown) => {
        if (error instanceof EtcdFailure) throw new Unavailable(error.message);
        throw error;
      });
    };
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #joinAuth(): Promise<void> {
    const { secrets, dataDir, log } = this.#parts;
    const kept = await secrets.get('auth');
    if (kept !== null && readChecked(dataDir, AUTH) === undefined) {
      writeChecked(dataDir, AUTH, kept.value);
    }
    await ensureSigningKey(dataDir, log);
    const own = readChecked(dataDir, AUTH) as JsonWebKey;
    const { value } = kept ?? (await secrets.put('auth', own, null));
    if ((value as JsonWebKey).d === own.d) return;
    throw new Error(
      `${AUTH} of this node has another key than the cluster: remove the file, and a start takes the ` +
        "cluster's key. Access tokens of the own key end then",
    );
  }

  /** The newer key of the two counts, which is the one that knows the other. */
  async #exchange(keys: TrackRecordKeys): Promise<void> {
    const { secrets } = this.#parts;
    let kept = await secrets.get('track-record');
    for (;;) {
      if (kept !== null) keys.take(kept.value as KeysOfRecords);
      const own = keys.shared;
      if (kept !== null && hasAll(kept.value as KeysOfRecords, own)) return;
      kept = await secrets.put('track-record', own, kept);
    }
  }
}

function hasAll(kept: KeysOfRecords, own: KeysOfRecords): boolean {
  const isSame = kept.privateKey.d === own.privateKey.d;
  return isSame && own.publicKeys.every((key) => kept.publicKeys.includes(key));
}

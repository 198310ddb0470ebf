/**
 * Secrets that all nodes of a cluster have, in etcd, encrypted by the secret of the cluster. Rule N118
 * (engine/RULES.md).
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import type { EtcdClient, KeyValue } from './etcd-client.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A secret as etcd has it, with the revision that put it. */
export type Kept = { value: object; revision: number };

export class ClusterSecrets {
  readonly #etcd: EtcdClient;
  readonly #cluster: string;
  readonly #key: Buffer;

  constructor(etcd: EtcdClient, cluster: string, secret: string) {
    this.#etcd = etcd;
    this.#cluster = cluster;
    this.#key = scryptSync(secret, `paperbook/${cluster}`, KEY_BYTES);
  }

  /** Null: there is none. Throws for one that another secret encrypted, and `EtcdFailure`. */
  async get(name: string): Promise<Kept | null> {
    const [[found] = []] = await this.#etcd.read([{ range: this.#at(name) }]);
    return found === undefined ? null : this.#open(name, found);
  }

  /**
   * Puts it if etcd still has `before`; null: if there is none. @returns what etcd has then. Throws as
   * `get`.
   */
  async put(name: string, value: object, before: Kept | null): Promise<Kept> {
    const key = this.#at(name);
    const compare =
      before === null ? { key, isAbsent: true as const } : { key, modRevision: before.revision };
    const put = { put: key, value: this.#seal(name, value) };
    const { ranges } = await this.#etcd.transact(
      [compare],
      [put, { range: key }],
      [{ range: key }],
    );
    return this.#open(name, ranges[0]![0]!);
  }

  #at(name: string): string {
    return `paperbook/${this.#cluster}/secret/${name}`;
  }

  #seal(name: string, value: object): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(Buffer.from(this.#at(name)));
    const text = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]);
  }

  #open(name: string, { value, modRevision }: KeyValue): Kept {
    const nonce = value.subarray(0, NONCE_BYTES);
    const textAt = NONCE_BYTES + TAG_BYTES;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, nonce)
        .setAAD(Buffer.from(this.#at(name)))
        .setAuthTag(value.subarray(NONCE_BYTES, textAt));
      const text = Buffer.concat([decipher.update(value.subarray(textAt)), decipher.final()]);
      return { value: JSON.parse(text.toString()) as object, revision: modRevision };
    } catch {
      throw new Error(`the key ${this.#at(name)} of etcd is not encrypted by the cluster's secret`);
    }
  }
}

/**
 * etcd over its JSON gateway, which needs no package. Every call has a time-out, and after a failure
 * the next call goes to another member. Rules N104, N106 (engine/RULES.md).
 */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { invariant } from '../base/invariant.ts';

/** A call failed, and whether etcd has done what it asks is unknown. */
export class EtcdFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EtcdFailure';
  }
}

/** Of a call whose loss something else shows, or that is made again. */
export function ignoreFailure(error: unknown): void {
  if (!(error instanceof EtcdFailure)) throw error;
}

export type Compare =
  | { key: string; isAbsent: true }
  | { key: string; value: string }
  | { key: string; createRevision: number }
  | { key: string; modRevision: number };

export type Operation =
  | { put: string; value: Uint8Array | string; lease?: string }
  /** One key, or up to `limit` keys from it to before `end`; `keysOnly`: their values are empty. */
  | { range: string; end?: string; limit?: number; keysOnly?: true }
  /** One key, or all from it to before `end`. */
  | { remove: string; end?: string };

export type KeyValue = {
  key: string;
  value: Buffer;
  createRevision: number;
  modRevision: number;
  lease: string;
};

export type Outcome = {
  succeeded: boolean;
  /** The answers to the ranges of the branch that was run, in their order. */
  ranges: KeyValue[][];
  /** How many keys the removals have removed. */
  removed: number;
  /** Of the whole of etcd. */
  revision: number;
};

/** Bytes of one member's file: all, and those that are not free for new values. */
export type EtcdSize = { fileBytes: number; usedBytes: number };

/** Shorter than an election of etcd, so that a member that stopped is left soon. */
const TIMEOUT_MS = 1000;
const ERROR_SHOWN = 200;
/** Part of etcd's refusal of a compaction that was done. */
const COMPACTED = 'has been compacted';
const NO_SPACE = 'NOSPACE';

/** As the gateway writes it; numbers of 64 bits are texts. */
type WireKeyValue = {
  key: string;
  value?: string;
  create_revision: string;
  mod_revision: string;
  lease?: string;
};
type WireRange = { kvs?: WireKeyValue[] };
type WireResponse = { response_range?: WireRange; response_delete_range?: { deleted?: string } };
type WireAlarm = { memberID: string; alarm: string };
type WireTxn = {
  header: { revision: string };
  succeeded?: boolean;
  responses?: WireResponse[];
};

export class EtcdClient {
  readonly #endpoints: readonly URL[];
  /** A connection is kept for the next call. */
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https = new HttpsAgent({ keepAlive: true });
  readonly #timeoutMs: number;
  #at = 0;

  constructor(urls: readonly string[], timeoutMs = TIMEOUT_MS) {
    invariant(urls.length > 0, 'a cluster has no etcd');
    this.#endpoints = urls.map((url) => new URL(url));
    this.#timeoutMs = timeoutMs;
  }

  /** Runs `ifSo` if every comparison holds, else `ifNot`, in one step. Throws `EtcdFailure`. */
  async transact(
    compares: readonly Compare[],
    ifSo: readonly Operation[],
    ifNot: readonly Operation[] = [],
  ): Promise<Outcome> {
    const {
      header,
      succeeded = false,
      responses = [],
    } = await this.#call<WireTxn>('kv/txn', {
      compare: compares.map(wireCompare),
      success: ifSo.map(wireOperation),
      failure: ifNot.map(wireOperation),
    });
    const ranges = responses.flatMap(({ response_range: range }) =>
      range === undefined ? [] : [(range.kvs ?? []).map(readKeyValue)],
    );
    const removed = responses.reduce(
      (sum, { response_delete_range: range }) => sum + Number(range?.deleted ?? 0),
      0,
    );
    return { succeeded, ranges, removed, revision: wholeNumber(header.revision) };
  }

  /** The values of several ranges at one moment, as a majority has them. Throws `EtcdFailure`. */
  async read(ranges: readonly Extract<Operation, { range: string }>[]): Promise<KeyValue[][]> {
    return (await this.transact([], ranges)).ranges;
  }

  /**
   * Asks one member after another until one answers, which the next call goes to. Throws an
   * `EtcdFailure` that names all of them.
   */
  async reach(): Promise<void> {
    const failures: string[] = [];
    for (let member = 0; member < this.#endpoints.length; member++) {
      try {
        await this.read([{ range: 'paperbook/', keysOnly: true }]);
        return;
      } catch (error) {
        if (!(error instanceof EtcdFailure)) throw error;
        failures.push(error.message);
      }
    }
    throw new EtcdFailure(failures.join('; '));
  }

  /** @returns the id of a lease of so many seconds. Throws `EtcdFailure`. */
  async grant(seconds: number): Promise<string> {
    return (await this.#call<{ ID: string }>('lease/grant', { TTL: String(seconds) })).ID;
  }

  /** False: the lease has ended. Throws `EtcdFailure`. */
  async keepAlive(lease: string): Promise<boolean> {
    const { result } = await this.#call<{ result?: { TTL?: string } }>('lease/keepalive', {
      ID: lease,
    });
    return Number(result?.TTL ?? 0) > 0;
  }

  /** Ends a lease, and with it the keys that were put under it. Throws `EtcdFailure`. */
  async revoke(lease: string): Promise<void> {
    await this.#call('lease/revoke', { ID: lease });
  }

  /**
   * Forgets values from before this revision that were replaced or removed since, so that their
   * space is free for new values. False: that was done already. Throws `EtcdFailure`.
   */
  async compact(revision: number): Promise<boolean> {
    try {
      await this.#call('kv/compaction', { revision: String(revision) });
      return true;
    } catch (error) {
      if (error instanceof EtcdFailure && error.message.includes(COMPACTED)) return false;
      throw error;
    }
  }

  /** Of the member that answers, which is the one of a client with one URL. Throws `EtcdFailure`. */
  async size(): Promise<EtcdSize> {
    const { dbSize, dbSizeInUse } = await this.#call<Record<'dbSize' | 'dbSizeInUse', string>>(
      'maintenance/status',
      {},
    );
    return { fileBytes: wholeNumber(dbSize), usedBytes: wholeNumber(dbSizeInUse) };
  }

  /**
   * The most bytes that the file of the member that answers may have, from its metrics. Throws
   * `EtcdFailure`, also for a member that has its metrics elsewhere.
   */
  async quotaBytes(): Promise<number> {
    return await this.#ask('GET', '/metrics', '', (text, fail) => {
      const [, bytes] = /^etcd_server_quota_backend_bytes (\S+)$/m.exec(text) ?? [];
      return bytes === undefined ? fail('its metrics have no quota') : Number(bytes);
    });
  }

  /** Whether etcd refuses to store more, until `disarm`. Throws `EtcdFailure`. */
  async isOutOfSpace(): Promise<boolean> {
    return (await this.#noSpace()).length > 0;
  }

  /** Lets etcd store again. Throws `EtcdFailure`. */
  async disarm(): Promise<void> {
    for (const { memberID } of await this.#noSpace()) {
      await this.#call('maintenance/alarm', { action: 'DEACTIVATE', memberID, alarm: NO_SPACE });
    }
  }

  async #noSpace(): Promise<WireAlarm[]> {
    const found = await this.#call<{ alarms?: WireAlarm[] }>('maintenance/alarm', {
      action: 'GET',
    });
    return (found.alarms ?? []).filter(({ alarm }) => alarm === NO_SPACE);
  }

  /**
   * Writes the file of the member that answers without its free space. That member answers nothing
   * meanwhile. Throws `EtcdFailure`.
   */
  async defragment(): Promise<void> {
    await this.#call('maintenance/defragment', {});
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  async #call<Answer>(path: string, body: object): Promise<Answer> {
    return await this.#ask('POST', `/v3/${path}`, JSON.stringify(body), (text, fail) => {
      try {
        return JSON.parse(text) as Answer;
      } catch {
        return fail('an answer is no JSON');
      }
    });
  }

  /** @param read reads the text of an answer 200 */
  #ask<Answer>(
    method: 'GET' | 'POST',
    path: string,
    body: string,
    read: (text: string, fail: (reason: string) => never) => Answer,
  ): Promise<Answer> {
    const at = this.#at;
    const endpoint = this.#endpoints[at]!;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const failure = (reason: string) => {
      // Another call may have left this member already.
      if (this.#at === at) this.#at = (at + 1) % this.#endpoints.length;
      return new EtcdFailure(`etcd at ${endpoint.host}: ${reason.slice(0, ERROR_SHOWN)}`);
    };
    const request = this.#request(method, new URL(path, endpoint), Buffer.byteLength(body));
    const timer = setTimeout(
      () => request.destroy(new Error(`no answer in ${this.#timeoutMs} ms`)),
      this.#timeoutMs,
    );
    request.on('close', () => clearTimeout(timer));
    request.on('error', (error) => reject(failure(error.message)));
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', (error) => reject(failure(error.message)));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        if (response.statusCode !== 200) {
          return reject(failure(`${response.statusCode} ${text}`));
        }
        try {
          resolve(
            read(text, (reason) => {
              throw failure(reason);
            }),
          );
        } catch (error) {
          reject(error);
        }
      });
    });
    request.end(body);
    return promise;
  }

  #request(method: string, url: URL, bytes: number): ClientRequest {
    const headers = { 'content-type': 'application/json', 'content-length': bytes };
    return url.protocol === 'https:'
      ? httpsRequest(url, { method, headers, agent: this.#https })
      : httpRequest(url, { method, headers, agent: this.#http });
  }
}

function wholeNumber(text: string): number {
  const value = Number(text);
  invariant(Number.isSafeInteger(value), 'a number of etcd is past 2^53');
  return value;
}

const toBase64 = (value: Uint8Array | string): string =>
  (typeof value === 'string'
    ? Buffer.from(value)
    : Buffer.from(value.buffer, value.byteOffset, value.length)
  ).toString('base64');

function wireCompare(compare: Compare): object {
  const of = { key: toBase64(compare.key), result: 'EQUAL' };
  if ('value' in compare) return { ...of, target: 'VALUE', value: toBase64(compare.value) };
  if ('isAbsent' in compare) return { ...of, target: 'VERSION', version: '0' };
  if ('modRevision' in compare) {
    return { ...of, target: 'MOD', mod_revision: String(compare.modRevision) };
  }
  return { ...of, target: 'CREATE', create_revision: String(compare.createRevision) };
}

function wireOperation(operation: Operation): object {
  if ('put' in operation) {
    const { put, value, lease } = operation;
    const of = { key: toBase64(put), value: toBase64(value) };
    return { request_put: lease === undefined ? of : { ...of, lease } };
  }
  const { end } = operation;
  const upTo = end === undefined ? {} : { range_end: toBase64(end) };
  if ('remove' in operation) {
    return { request_delete_range: { key: toBase64(operation.remove), ...upTo } };
  }
  const { range, limit, keysOnly } = operation;
  return {
    request_range: {
      ...{ key: toBase64(range), ...upTo },
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(keysOnly === undefined ? {} : { keys_only: true }),
    },
  };
}

function readKeyValue({ key, value = '', lease = '0', ...of }: WireKeyValue): KeyValue {
  return {
    key: Buffer.from(key, 'base64').toString(),
    value: Buffer.from(value, 'base64'),
    createRevision: wholeNumber(of.create_revision),
    modRevision: wholeNumber(of.mod_revision),
    lease,
  };
}

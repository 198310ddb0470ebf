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

export type Compare =
  | { key: string; isAbsent: true }
  | { key: string; value: string }
  | { key: string; createRevision: number };

export type Operation =
  | { put: string; value: Uint8Array | string; lease?: string }
  /** One key, or up to `limit` keys from it to before `end`. */
  | { range: string; end?: string; limit?: number };

export type KeyValue = { key: string; value: Buffer; createRevision: number; lease: string };

export type Outcome = {
  succeeded: boolean;
  /** The answers to the ranges of the branch that was run, in their order. */
  ranges: KeyValue[][];
};

/** Shorter than an election of etcd, so that a member that stopped is left soon. */
const TIMEOUT_MS = 1000;
const ERROR_SHOWN = 200;

/** As the gateway writes it; numbers of 64 bits are texts. */
type WireKeyValue = { key: string; value?: string; create_revision: string; lease?: string };
type WireRange = { kvs?: WireKeyValue[] };
type WireTxn = { succeeded?: boolean; responses?: { response_range?: WireRange }[] };

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
    const { succeeded = false, responses = [] } = await this.#call<WireTxn>('kv/txn', {
      compare: compares.map(wireCompare),
      success: ifSo.map(wireOperation),
      failure: ifNot.map(wireOperation),
    });
    const ranges = responses.flatMap(({ response_range: range }) =>
      range === undefined ? [] : [(range.kvs ?? []).map(readKeyValue)],
    );
    return { succeeded, ranges };
  }

  /** The values of several ranges at one moment, as a majority has them. Throws `EtcdFailure`. */
  async read(ranges: readonly Extract<Operation, { range: string }>[]): Promise<KeyValue[][]> {
    return (await this.transact([], ranges)).ranges;
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

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #call<Answer>(path: string, body: object): Promise<Answer> {
    const at = this.#at;
    const endpoint = this.#endpoints[at]!;
    const text = JSON.stringify(body);
    return new Promise<Answer>((resolve, reject) => {
      const fail = (reason: string) => {
        // Another call may have left this member already.
        if (this.#at === at) this.#at = (at + 1) % this.#endpoints.length;
        reject(new EtcdFailure(`etcd at ${endpoint.host}: ${reason.slice(0, ERROR_SHOWN)}`));
      };
      const request = this.#request(endpoint, path, Buffer.byteLength(text));
      const timer = setTimeout(
        () => request.destroy(new Error(`no answer in ${this.#timeoutMs} ms`)),
        this.#timeoutMs,
      );
      request.on('close', () => clearTimeout(timer));
      request.on('error', (error) => fail(error.message));
      request.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', (error) => fail(error.message));
        response.on('end', () => {
          const answer = Buffer.concat(parts).toString();
          if (response.statusCode !== 200) return fail(`${response.statusCode} ${answer}`);
          try {
            resolve(JSON.parse(answer) as Answer);
          } catch {
            fail('an answer is no JSON');
          }
        });
      });
      request.end(text);
    });
  }

  #request(endpoint: URL, path: string, bytes: number): ClientRequest {
    const url = new URL(`/v3/${path}`, endpoint);
    const headers = { 'content-type': 'application/json', 'content-length': bytes };
    return url.protocol === 'https:'
      ? httpsRequest(url, { method: 'POST', headers, agent: this.#https })
      : httpRequest(url, { method: 'POST', headers, agent: this.#http });
  }
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
  return { ...of, target: 'CREATE', create_revision: String(compare.createRevision) };
}

function wireOperation(operation: Operation): object {
  if ('put' in operation) {
    const { put, value, lease } = operation;
    const of = { key: toBase64(put), value: toBase64(value) };
    return { request_put: lease === undefined ? of : { ...of, lease } };
  }
  const { range, end, limit } = operation;
  const of = { key: toBase64(range) };
  if (end === undefined) return { request_range: of };
  const upTo = { ...of, range_end: toBase64(end) };
  return { request_range: limit === undefined ? upTo : { ...upTo, limit: String(limit) } };
}

function readKeyValue({ key, value = '', create_revision, lease = '0' }: WireKeyValue): KeyValue {
  const createRevision = Number(create_revision);
  invariant(Number.isSafeInteger(createRevision), 'a revision of etcd is past 2^53');
  const keyText = Buffer.from(key, 'base64').toString();
  return { key: keyText, value: Buffer.from(value, 'base64'), createRevision, lease };
}

/**
 * The part of etcd that a cluster uses, in this process: revisions, transactions, leases, over the
 * same JSON gateway. Its faults come when a test asks for them. The tests that run against it also
 * run against a real etcd, where one is installed.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

type Row = {
  key: string;
  value: string;
  create: number;
  mod: number;
  version: number;
  lease: string;
};
type Wire = Record<string, string>;
type WireOperation = {
  request_put?: Wire;
  request_range?: Wire & { keys_only?: boolean };
  request_delete_range?: Wire;
};
type Txn = { compare?: Wire[]; success?: WireOperation[]; failure?: WireOperation[] };

type Call = Txn & { TTL?: string; ID?: string; revision?: string } & {
  action?: string;
  memberID?: string;
};

export class EtcdDouble {
  readonly #rows = new Map<string, Row>();
  readonly #leases = new Map<string, { untilMs: number; seconds: number }>();
  readonly #server: Server;
  #revision = 1;
  #leasesGranted = 0;
  /** Calls of these paths are done, and their answers are lost. */
  #lostAnswers = { path: '', count: 0 };
  #held = { path: '', count: 0, answers: [] as (() => void)[] };
  /** Nothing reaches it. */
  isCut = false;
  /** Transactions that put something. */
  writes = 0;
  compactedTo = 0;
  /** What it says of its file; a test sets it. */
  fileBytes = 0;
  usedBytes = 0;
  quotaBytes = 2 ** 31;
  isOutOfSpace = false;

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        if (this.isCut) return request.destroy();
        if (request.url === '/metrics') {
          return response.end(`# TYPE\netcd_server_quota_backend_bytes ${this.quotaBytes}\n`);
        }
        const call = (request.url ?? '').slice('/v3/'.length);
        const answer = this.#answer(call, JSON.parse(Buffer.concat(parts).toString()));
        const { path: lost, count } = this.#lostAnswers;
        if (count > 0 && call === lost) {
          this.#lostAnswers = { path: lost, count: count - 1 };
          return request.destroy();
        }
        const send = () => void response.end(JSON.stringify(answer));
        const { path: held, count: wanted, answers } = this.#held;
        if (call !== held || answers.length === wanted) return send();
        answers.push(send);
        if (answers.length === wanted) for (const each of answers) each();
      });
    });
  }

  static async start(): Promise<EtcdDouble> {
    const etcd = new EtcdDouble();
    await new Promise<void>((resolve) => etcd.#server.listen(0, '127.0.0.1', resolve));
    return etcd;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Leases that have not ended. */
  get leases(): number {
    this.#endLeases();
    return this.#leases.size;
  }

  /** The next `count` calls of `path` are done, and nobody hears of it. */
  loseAnswers(path: string, count: number): void {
    this.#lostAnswers = { path, count };
  }

  /** The next `count` answers of `path` are sent together, once all of them are there. */
  holdBack(path: string, count: number): void {
    this.#held = { path, count, answers: [] };
  }

  /** Removes a key. */
  forget(key: string): void {
    this.#rows.delete(key);
  }

  /** Ends a lease at once, as its time would. */
  expire(): void {
    for (const lease of this.#leases.values()) lease.untilMs = 0;
    this.#endLeases();
  }

  /** Its keys, without the values. */
  get keys(): string[] {
    return [...this.#rows.keys()].sort();
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(call: string, body: Call): object {
    this.#endLeases();
    const { TTL, ID = '', revision, action, memberID } = body;
    const lease = this.#leases.get(ID);
    const leaseUntil = (seconds: number) => performance.now() + seconds * 1000;
    switch (call) {
      case 'kv/txn':
        return this.#transact(body);
      case 'lease/grant': {
        const id = String(++this.#leasesGranted);
        this.#leases.set(id, { untilMs: leaseUntil(Number(TTL)), seconds: Number(TTL) });
        return { ID: id, TTL };
      }
      case 'lease/keepalive':
        if (lease === undefined) return { result: { ID } };
        lease.untilMs = leaseUntil(lease.seconds);
        return { result: { ID, TTL: String(lease.seconds) } };
      case 'lease/revoke':
        if (lease !== undefined) lease.untilMs = 0;
        this.#endLeases();
        return {};
      case 'kv/compaction':
        this.compactedTo = Number(revision);
        return {};
      case 'maintenance/status':
        return { dbSize: String(this.fileBytes), dbSizeInUse: String(this.usedBytes) };
      case 'maintenance/alarm':
        if (action === 'DEACTIVATE' && memberID === '7') this.isOutOfSpace = false;
        return this.isOutOfSpace ? { alarms: [{ memberID: '7', alarm: 'NOSPACE' }] } : {};
      case 'maintenance/defragment':
        this.fileBytes = this.usedBytes;
        return {};
      default:
        throw new Error(`etcd has no ${call}`);
    }
  }

  #endLeases(): void {
    for (const [id, { untilMs }] of this.#leases) {
      if (untilMs > performance.now()) continue;
      this.#leases.delete(id);
      for (const { key, lease } of [...this.#rows.values()])
        if (lease === id) this.#rows.delete(key);
    }
  }

  #transact({ compare = [], success = [], failure = [] }: Txn): object {
    const succeeded = compare.every((one) => this.#holds(one));
    const operations = succeeded ? success : failure;
    if (operations.some(({ request_range: range }) => range === undefined)) {
      this.#revision++;
      this.writes++;
    }
    const responses = operations.map((operation) => this.#run(operation));
    const header = { revision: String(this.#revision) };
    return succeeded ? { header, succeeded, responses } : { header, responses };
  }

  #holds({ key = '', target, ...wanted }: Wire): boolean {
    const row = this.#rows.get(textOf(key));
    if (target === 'VERSION') return String(row?.version ?? 0) === wanted.version;
    if (target === 'MOD') return String(row?.mod ?? 0) === wanted.mod_revision;
    if (target === 'CREATE') return String(row?.create ?? 0) === wanted.create_revision;
    return row?.value === wanted.value;
  }

  #run({
    request_put: put,
    request_range: range,
    request_delete_range: removal,
  }: WireOperation): object {
    if (removal !== undefined) {
      const found = this.#found(removal);
      for (const { key } of found) this.#rows.delete(key);
      return { response_delete_range: found.length === 0 ? {} : { deleted: `${found.length}` } };
    }
    if (put !== undefined) {
      const { value = '', lease = '0' } = put;
      const key = textOf(put.key ?? '');
      const before = this.#rows.get(key);
      const [create, version] = [before?.create ?? this.#revision, (before?.version ?? 0) + 1];
      this.#rows.set(key, { key, value, create, mod: this.#revision, version, lease });
      return { response_put: {} };
    }
    const { limit = '0', keys_only: isKeysOnly = false } = range ?? {};
    const kvs = this.#found(range ?? {})
      .slice(0, Number(limit) || undefined)
      .map((row) => ({
        key: Buffer.from(row.key).toString('base64'),
        ...(isKeysOnly ? {} : { value: row.value }),
        create_revision: String(row.create),
        mod_revision: String(row.mod),
        ...(row.lease === '0' ? {} : { lease: row.lease }),
      }));
    return { response_range: kvs.length === 0 ? {} : { kvs } };
  }

  /** In the order of their keys. */
  #found({ key = '', range_end: end }: Wire): Row[] {
    const from = textOf(key);
    const within = (name: string) =>
      end === undefined ? name === from : name >= from && name < textOf(end);
    return [...this.#rows.values()]
      .filter((row) => within(row.key))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}

const textOf = (base64: string): string => Buffer.from(base64, 'base64').toString();

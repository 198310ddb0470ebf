/** A server whose disk is full, or whose data was cut short. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { shardOfAccount } from '../../engine/shard/callers/shard-of.ts';
import { flip } from '../engine/log/log-files.ts';
import { mayMount, mountAt } from '../engine/shard/limited-files.ts';
import { longTest } from '../long-test.ts';
import { variantsOfRun } from '../model/seeds.ts';
import { catalogOf, game, instrument } from './catalogs.ts';
import { type Answer, allRows, ask, type Json, request } from './client.ts';
import { runHere } from './run-here.ts';
import { type Server, startFor, tempDir } from './server.ts';

const WIDE = { newPerMinute: 1e6, newPerDay: 1e9, closingPerMinute: 1e6 };
const BATCH = 100;
/** So many orders outgrow any room that a shard keeps in store. */
const BATCHES_MAX = 260;

/** An answer to an order, and its idempotency key. */
type Placed = Answer & { key: string };

/** A user's orders on a server that comes and goes, and what was acknowledged of them. */
class Trader {
  readonly acknowledged = new Map<string, Json>();
  server: Server;
  token = '';
  userId = '';
  #keys = 0;

  constructor(server: Server) {
    this.server = server;
  }

  /** A user of plan enterprise with limits as wide as it takes, and a key. */
  static async on(server: Server, email = 'ann@example.com'): Promise<Trader> {
    const trader = new Trader(server);
    const limits = { key: WIDE, account: WIDE };
    const user = { email, plan: 'enterprise', tradeLimits: limits };
    const { user: made } = await trader.admin('POST', '/admin/users', user);
    const scopes = ['portfolio:read', 'markets:read', 'trade:write'];
    trader.userId = made.id;
    trader.token = (await trader.admin('POST', '/admin/keys', { userId: made.id, scopes })).token;
    return trader;
  }

  async admin(method: string, where: string, body?: object): Promise<Json> {
    return await ask(this.#adminToken(), method, this.server.adminUrl + where, body);
  }

  async ready(): Promise<Answer> {
    return await request(this.#adminToken(), 'GET', `${this.server.adminUrl}/readyz`);
  }

  /** A buy that no price reaches. */
  async place(key = this.#nextKey()): Promise<Placed> {
    const url = `${this.server.baseUrl}/portfolio/orders`;
    return this.#placed(key, await request(this.token, 'POST', url, await this.#buy(key)));
  }

  /** Places a hundred a request until one is refused, and one alone after that; the refusals. */
  async placeUntilRefused(): Promise<Placed[]> {
    for (let batch = 0; batch < BATCHES_MAX; batch++) {
      const keys = Array.from({ length: BATCH }, () => this.#nextKey());
      const orders = await Promise.all(keys.map((key) => this.#buy(key)));
      const url = `${this.server.baseUrl}/portfolio/orders/batch`;
      const { results } = await ask(this.token, 'POST', url, { orders });
      const placed = keys.map((key, at) => this.#placed(key, results[at]));
      const refused = placed.filter(({ status }) => status !== 200);
      if (refused.length > 0) return [await this.place(), ...refused];
    }
    throw new Error('the disk is never full');
  }

  #placed(key: string, answer: Answer): Placed {
    if (answer.status === 200) this.acknowledged.set(key, answer.body.order);
    return { ...answer, key };
  }

  #nextKey(): string {
    this.#keys++;
    return `key-${this.#keys}`.padEnd(128, '-');
  }

  async #buy(idempotencyKey: string): Promise<object> {
    const instrumentId = await this.#instrument();
    const buy = { action: 'buy', type: 'limit', side: 'yes', count: 1, limitPriceCents: 1 };
    return { ...buy, idempotencyKey, instrumentId };
  }

  /** Acknowledged orders that are not listed as resting, and listed ones that were not asked for. */
  async lost(): Promise<{ lost: string[]; unknown: number }> {
    const orders = await allRows(this.token, `${this.server.baseUrl}/portfolio/orders`, 'orders');
    const listed = new Map(orders.map((order) => [order.orderId, order]));
    const lost = [...this.acknowledged].flatMap(([key, { orderId }]) => {
      return listed.get(orderId)?.status === 'resting' ? [] : [key];
    });
    return { lost, unknown: orders.length - this.acknowledged.size };
  }

  #instrumentId: string | null = null;
  async #instrument(): Promise<string> {
    if (this.#instrumentId === null) {
      const url = `${this.server.baseUrl}/instruments?limit=1`;
      this.#instrumentId = (await ask(this.token, 'GET', url)).instruments[0].id as string;
    }
    return this.#instrumentId;
  }

  #adminToken(): string {
    return readFileSync(path.join(this.server.dataDir, 'admin.token'), 'utf8').trim();
  }
}

function catalogIn(dir: string): string {
  const file = path.join(dir, 'catalog.json');
  writeFileSync(file, catalogOf([game('g1')], [instrument('i1', 'g1')]));
  return file;
}

type Disk = {
  /** What the system says when it is full. */
  says: string;
  dataDir: string;
  catalog: string;
  fill(server: Server): void;
  makeRoom(server: Server): void;
};

/** The size of the server's files is limited, as a quota would; no privilege is needed. */
function limitedFiles(t: ExecutionContext): Disk {
  const dir = tempDir(t);
  const dataDir = path.join(dir, 'data');
  const limit = ({ command }: Server, bytes: string) => {
    execFileSync('prlimit', ['--pid', String(command.pid), `--fsize=${bytes}:unlimited`]);
  };
  return {
    says: 'file too large',
    dataDir,
    catalog: catalogIn(dir),
    // The largest file: the log has room to its end, and cannot grow.
    fill: (server) =>
      limit(server, String(statSync(path.join(dataDir, 'shard-0', 'log', '00000000.log')).size)),
    makeRoom: (server) => limit(server, 'unlimited'),
  };
}

/** A file system of its own, filled to the last byte. */
function smallDisk(t: ExecutionContext): Disk {
  const dir = tempDir(t);
  const mount = path.join(dir, 'mount');
  mkdirSync(mount);
  mountAt(mount, 48);
  t.teardown(() => execFileSync('umount', ['-l', mount]));
  const ballast = path.join(mount, 'ballast');
  return {
    says: 'no space left on device',
    dataDir: path.join(mount, 'data'),
    catalog: catalogIn(dir),
    fill: () => fillWith(ballast),
    makeRoom: () => unlinkSync(ballast),
  };
}

function fillWith(file: string): void {
  const fd = openSync(file, 'a');
  try {
    for (const bytes of [2 ** 20, 4096]) {
      const zeros = Buffer.alloc(bytes);
      try {
        for (;;) writeSync(fd, zeros);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(fd);
  }
}

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

const LIMITED = { name: 'a limit of file sizes', diskOf: limitedFiles };
const SMALL = { name: 'a small file system', diskOf: smallDisk };
const DISKS = [...(mayMount() ? [SMALL] : []), ...(hasPrlimit ? [LIMITED] : [])];

// Where the machine has no such disk to offer the test is shown as skipped.
const diskTest = DISKS.length > 0 ? test.serial : test.serial.skip;
for (const { name, diskOf } of DISKS.length > 0 ? variantsOfRun(DISKS) : [LIMITED]) {
  diskTest(
    `D8, internal_error: with a full disk (${name}) nothing is placed and nothing lost`,
    async (t) => {
      t.timeout(300_000);
      const disk = diskOf(t);
      const env = { PAPERBOOK_SHARDS: '1', PAPERBOOK_CATALOG: disk.catalog };
      const trader = await Trader.on(await startFor(t, 'serve', { dataDir: disk.dataDir, env }));
      for (let warm = 0; warm < 5; warm++) await trader.place();

      disk.fill(trader.server);
      const refused = await trader.placeUntilRefused();
      for (const { status, body } of refused) {
        t.is(status, 503);
        t.is(body.error.code, 'internal_error');
        t.regex(body.error.message, new RegExp(`data directory cannot be written: ${disk.says}`));
        t.true(body.error.retryAfterSeconds >= 1);
      }
      t.deepEqual(await trader.lost(), { lost: [], unknown: 0 });
      const ready = await trader.ready();
      t.is(ready.status, 503);
      t.regex(ready.body.error.message, new RegExp(`degraded. shard 0: .*${disk.says}`));
      const { problems } = await trader.admin('GET', '/healthz');
      // The records need room, too (Y1).
      const ofShards = problems.filter((text: string) => !text.startsWith('records: '));
      t.is(ofShards.length, 1, String(problems));

      // Killed and started on the disk that is still full: it reads, and says why it does not write.
      await trader.server.command.end('SIGKILL');
      trader.server = await startFor(t, 'serve', { dataDir: disk.dataDir, env });
      disk.fill(trader.server);
      t.deepEqual(await trader.lost(), { lost: [], unknown: 0 });
      const [again] = await trader.placeUntilRefused();
      t.is(again!.status, 503);
      t.regex(again!.body.error.message, new RegExp(disk.says));

      disk.makeRoom(trader.server);
      await eventually('readiness', async () =>
        (await trader.ready()).status === 200 ? true : null,
      );
      await eventually('health', async () =>
        (await trader.admin('GET', '/healthz')).problems.length === 0 ? true : null,
      );
      const retried = await trader.place(again!.key);
      t.is(retried.status, 200);
      t.false(retried.body.replayed, 'what was refused was not placed');
      t.deepEqual(await trader.lost(), { lost: [], unknown: 0 });
      const exit = await trader.server.command.end('SIGTERM');
      t.is(exit.code, 0, exit.stderr);
      const changes = exit.stderr.match(/shard only reads now|shard writes again/g);
      t.deepEqual(changes, ['shard only reads now', 'shard writes again']);
      const verified = await runHere(['verify', '--data-dir', disk.dataDir]);
      t.is(verified.code, 0, verified.stdout);
    },
  );
}

longTest.serial(
  `D8, internal_error: one shard's log is damaged; the other shards serve`,
  async (t) => {
    t.timeout(180_000);
    const dir = tempDir(t);
    const dataDir = path.join(dir, 'data');
    const env = { PAPERBOOK_SHARDS: '2', PAPERBOOK_CATALOG: catalogIn(dir) };
    const server = await startFor(t, 'serve', { dataDir, env });
    const traders: Trader[] = [];
    const shards = new Set<number>();
    // Users until both shards have one: where an account lives is decided by its id.
    for (let n = 0; shards.size < 2; n++) {
      const trader = await Trader.on(server, `user-${n}@example.com`);
      shards.add(shardOfAccount(trader.userId, 2));
      traders.push(trader);
      t.is((await trader.place()).status, 200);
    }
    t.is((await server.command.end('SIGTERM')).code, 0);
    flip(path.join(dataDir, 'shard-0', 'log', '00000000.log'), 20, 1);

    const restarted = await startFor(t, 'serve', { dataDir, env });
    const statuses = new Set<number>();
    for (const trader of traders) {
      trader.server = restarted;
      const answer = await trader.place();
      statuses.add(answer.status);
      const { status } = await request(trader.token, 'GET', `${restarted.baseUrl}/portfolio`);
      t.is(status, answer.status);
      if (status === 200) t.deepEqual(await trader.lost(), { lost: [], unknown: 0 });
      else t.regex(answer.body.error.message, /00000000\.log is damaged at byte 0/);
    }
    t.deepEqual([...statuses].sort(), [200, 503]);
    const [trader] = traders;
    const listed = await ask(trader!.token, 'GET', `${restarted.baseUrl}/instruments`);
    t.is(listed.count, 1);
    const { body, status } = await trader!.ready();
    t.is(status, 503);
    t.regex(
      body.error.message,
      /^The engine is degraded\. shard 0: 00000000\.log is damaged at byte 0/,
    );
    const exit = await restarted.command.end('SIGTERM');
    t.is(exit.code, 0, exit.stderr);
    t.regex(exit.stderr, /"error":"00000000\.log is damaged.*"shard is out of order"/);
    t.is((await runHere(['verify', '--data-dir', dataDir])).code, 1);
  },
);

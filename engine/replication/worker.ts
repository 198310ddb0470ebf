/**
 * The thread of one shard's replicator. It speaks to etcd for the shard's thread, which may be
 * started again meanwhile: each of its threads has a session. Rules N101, N105, N113, N161, N162 (engine/RULES.md).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '../base/invariant.ts';
import { Endpoint } from '../ring/endpoint.ts';
import { Deposed } from '../threads/unavailable.ts';
import { EtcdClient } from './etcd-client.ts';
import { Lease, steadyMs } from './lease.ts';
import { LogKeeper } from './log-keeper.ts';
import { LogPlace } from './log-place.ts';
import type { ReplicaMemory } from './replica-end.ts';
import { bodyOf, FRAME, frameOf, readLastRecord } from './replica-frames.ts';
import { readStored, writeStored } from './replicated-record.ts';
import {
  type ClusterSettings,
  OtherLog,
  type ReplicaState,
  ShardReplica,
} from './shard-replica.ts';

/** An append or a renewal without an answer is given up after so many leases. */
const LEASES_WAITED = 2;

export type ReplicatorData = { settings: ClusterSettings; shard: number };

export type ToReplicator =
  /** The shard has a new thread. */
  | { kind: 'session'; memory: ReplicaMemory }
  /** The shard's thread has ended. */
  | { kind: 'end_session' }
  /** The last message. */
  | { kind: 'end' };

export type FromReplicator = { kind: 'opened' } | { kind: 'state'; state: ReplicaState };

const port = parentPort;
invariant(port !== null, 'a replicator runs outside of a thread');
const { settings, shard } = workerData as ReplicatorData;
const etcd = new EtcdClient(settings.etcd);
const say = (message: FromReplicator) => port.postMessage(message);

class Session {
  readonly #end: Endpoint;
  readonly #lease: Lease;
  readonly #place: LogPlace;
  readonly #keeping: AbortController = new AbortController();
  #replica: ShardReplica | null = null;
  #isEnded = false;
  #room: (() => void) | null = null;

  constructor({ channel, lease, place }: ReplicaMemory) {
    this.#end = new Endpoint(channel, 'caller');
    this.#lease = new Lease(lease);
    this.#place = new LogPlace(place);
    this.#listen();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#keeping.abort();
    this.#end.wakeOwn();
    this.#room?.();
    await this.#replica?.end();
  }

  #listen(): void {
    this.#end.whenNews(() => {
      if (this.#isEnded) return;
      if (this.#end.flush()) this.#room?.();
      if (this.#end.isReady()) this.#obey();
      this.#listen();
    });
  }

  #obey(): void {
    const frame = this.#end.next();
    const body = bodyOf(frame);
    switch (frame.type) {
      case FRAME.begin:
        return void this.#follow(body);
      case FRAME.append:
        return void this.#answer((replica) => replica.append(readStored(body)));
      case FRAME.confirm:
        return void this.#answer((replica) => replica.confirm());
      case FRAME.release:
        return void this.#answer((replica) => replica.release());
      default:
        invariant(false, 'a shard sends its replicator a frame of no known type');
    }
  }

  async #follow(last: Buffer): Promise<void> {
    const { name: cluster, node, address, leaseSeconds } = settings;
    this.#replica = new ShardReplica(
      {
        ...{ etcd, cluster, leaseSeconds, steadyMs },
        log: `shard/${shard}`,
        waitMs: LEASES_WAITED * leaseSeconds * 1000,
        self: { node, address },
        applied: () => this.#place.applied,
        renewed: (untilMs) => this.#lease.set(untilMs),
        changed: (state) => {
          if (!this.#isEnded) say({ kind: 'state', state });
        },
      },
      readLastRecord(last),
    );
    void this.#keep(this.#replica);
    try {
      const leads = await this.#replica.follow((record) =>
        this.#send(frameOf(FRAME.record, writeStored(record))),
      );
      if (leads) await this.#send(frameOf(FRAME.lead));
    } catch (error) {
      const type = error instanceof OtherLog ? FRAME.otherLog : FRAME.deposed;
      await this.#send(frameOf(type, (error as Error).message));
    }
  }

  async #keep(replica: ShardReplica): Promise<void> {
    const { name: cluster, node } = settings;
    const keeper = new LogKeeper({
      ...{ etcd, cluster, log: `shard/${shard}`, node },
      onDisk: () => this.#place.onDisk,
      leads: () => replica.leads,
    });
    await keeper.keep(this.#keeping.signal);
  }

  async #answer(ask: (replica: ShardReplica) => Promise<void>): Promise<void> {
    invariant(this.#replica !== null, 'a shard leads before it follows');
    try {
      await ask(this.#replica);
      await this.#send(frameOf(FRAME.done));
    } catch (error) {
      if (!(error instanceof Deposed)) throw error;
      await this.#send(frameOf(FRAME.deposed, error.message));
    }
  }

  /** Resolves once the ring has taken all of it, or the session has ended. */
  async #send(frame: Buffer): Promise<void> {
    if (this.#isEnded) return;
    this.#end.send(frame);
    while (this.#end.isFull && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        this.#room = resolve;
      });
    }
  }
}

let session: Session | null = null;
/** Sessions begin and end one after another. */
let done: Promise<void> = Promise.resolve();

port.on('message', (message: ToReplicator) => {
  done = done.then(() => obey(message));
});

async function obey(message: ToReplicator): Promise<void> {
  const before = session;
  session = null;
  await before?.end();
  if (message.kind === 'session') session = new Session(message.memory);
  if (message.kind !== 'end') return;
  etcd.close();
  process.exit(0);
}

say({ kind: 'opened' });

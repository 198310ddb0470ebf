/**
 * The further listeners of a server, as its main thread sees them: each is a thread that shares the
 * port. Requests that a listener does not serve itself are served here, and their answers go back.
 * Rules A130 to A135, J45, Q28, V11 (api/RULES.md), D74, D75 (engine/RULES.md).
 */
import type { Uuid } from '../../engine/base/units.ts';
import type { FurtherCallers, FurtherEnds } from '../../engine/shard/callers/further-ends.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import { Restarts } from '../../engine/threads/restarts.ts';
import { SupervisedWorker } from '../../engine/threads/supervised-worker.ts';
import { Unavailable } from '../../engine/threads/unavailable.ts';
import { workerUrl } from '../../engine/threads/worker-url.ts';
import type { Log } from '../base/logger.ts';
import type { Config } from '../config/settings.ts';
import type { Metrics } from '../dispatch/metrics.ts';
import type { HeaderLines } from '../http/header-lines.ts';
import type { Listener } from '../http/http.ts';
import { RelayedResponse } from '../http/relayed-request.ts';
import { type KeyCaller, keyFinder } from '../identity/key-access.ts';
import { isLastUseStale } from '../identity/keys.ts';
import type { ControlStore } from '../identity/store.ts';
import type { Switches } from '../identity/switches.ts';
import type { RequestCounts } from '../limits/request-counts.ts';
import type { CountSlots } from '../limits/shared-counts.ts';
import type {
  FromListener,
  Grant,
  ListenerData,
  RequestNumber,
  SentCredential,
  ToListener,
} from './messages.ts';

const DOWN = new Unavailable('a listener starts again');
const OUR_VENUES = ['venue_a', 'venue_c_intl'] as const;

export type ListenersParts = {
  config: Config;
  engine: Pick<Shards, 'trade' | 'statuses' | 'renewEnds' | 'roamingKeys'>;
  ends: FurtherEnds;
  identity: ControlStore;
  switches: Switches;
  counts: RequestCounts;
  slots: CountSlots;
  /** Of `sharedTime`. */
  time: SharedArrayBuffer;
  metrics: Metrics;
  /** Of every answer. */
  headers: HeaderLines;
  queueDepthMax: number;
  log: Log;
};

export class Listeners implements FurtherCallers {
  readonly #parts: ListenersParts;
  readonly #threads: ListenerThread[] = [];

  constructor(parts: ListenersParts) {
    this.#parts = parts;
  }

  /** Resolves once all listen on the port of the main thread's listener. */
  async start(main: Pick<Listener, 'port' | 'serve'>): Promise<void> {
    const { ends } = this.#parts;
    const find = keyFinder(this.#parts.identity);
    for (let at = 0; at < ends.count; at++) {
      this.#threads.push(new ListenerThread(at, this.#parts, main, find));
    }
    ends.callers = this;
    await Promise.all(this.#threads.map((thread) => thread.start()));
  }

  /** The problems of threads that fail again and again. */
  problems(): string[] {
    return this.#threads.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  }

  /** Sends a message to every socket of the other threads that follows the topic. */
  publish(topic: string, message: string | Uint8Array, isBinary: boolean): void {
    for (const thread of this.#threads) {
      thread.post({ kind: 'publish', topic, message, isBinary });
    }
  }

  changed(shard: number): void {
    for (const thread of this.#threads) thread.reach(shard);
  }

  async roams(keyId: Uuid): Promise<void> {
    await this.#settled((id) => ({ kind: 'roams', id, keyId }));
  }

  isHome(keyId: Uuid): void {
    for (const thread of this.#threads) thread.post({ kind: 'is_home', keyId });
  }

  async pause(): Promise<() => void> {
    for (const thread of this.#threads) thread.pauses++;
    await this.#settled((id) => ({ kind: 'pause', id }));
    return () => {
      for (const thread of this.#threads) thread.goOn();
    };
  }

  /** Stops accepting, answers what is under way for up to `graceMs`, ends the threads. */
  async close(graceMs: number): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close(graceMs)));
  }

  async #settled(messageOf: (id: number) => ToListener): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.settled(messageOf)));
  }
}

class ListenerThread {
  /** How many pauses have begun and not ended. */
  pauses = 0;
  readonly #at: number;
  readonly #parts: ListenersParts;
  readonly #main: Pick<Listener, 'port' | 'serve'>;
  readonly #find: (authorization: string, ownHeader: string) => KeyCaller | null;
  readonly #worker: SupervisedWorker<ToListener, FromListener>;
  readonly #restarts = new Restarts();
  /** Requests that it has passed on, until they are answered or their sockets are closed. */
  readonly #requests = new Map<RequestNumber, RelayedResponse>();
  readonly #listens = Promise.withResolvers<void>();
  /** Resolves once what the last thread had sent is decided or dropped. */
  #renewed: Promise<void> = Promise.resolve();
  /** Resolves once it has ended on purpose; null: it has not been asked to. */
  #closed: Promise<void> | null = null;
  #hasListened = false;
  /** The failure of the thread, as it said. */
  #reason: string | null = null;

  constructor(
    at: number,
    parts: ListenersParts,
    main: Pick<Listener, 'port' | 'serve'>,
    find: (authorization: string, ownHeader: string) => KeyCaller | null,
  ) {
    this.#at = at;
    this.#parts = parts;
    this.#main = main;
    this.#find = find;
    this.#worker = new SupervisedWorker({
      name: this.#name,
      module: workerUrl(import.meta.url, './listener-thread'),
      workerData: () => this.#data(),
      log: { info() {}, error() {} },
      down: DOWN,
      isRestartedByHost: true,
      take: (message) => this.#take(message),
      ended: (error) => this.#ended(error),
    });
  }

  get #name(): string {
    return `listener ${this.#at + 1}`;
  }

  /** Null: there is none. */
  get problem(): string | null {
    const { problem } = this.#restarts;
    return problem === null ? null : `${this.#name} ${problem}`;
  }

  /** Resolves once it listens. */
  start(): Promise<void> {
    this.#worker.start();
    return this.#listens.promise;
  }

  post(message: ToListener): void {
    this.#worker.post(message);
  }

  reach(shard: number): void {
    this.post({ kind: 'shard', shard, end: this.#parts.ends.of(this.#at, shard) });
  }

  /** Resolves once all that it had sent to the shards is decided. */
  async settled(messageOf: (id: number) => ToListener): Promise<void> {
    // A thread that is gone has sent what its ends had; the next one starts with the present state.
    await this.#worker.ask<void>(messageOf).catch(() => this.#closed ?? this.#renewed);
  }

  goOn(): void {
    this.pauses--;
    if (this.pauses === 0) this.post({ kind: 'go_on' });
  }

  async close(graceMs: number): Promise<void> {
    this.#restarts.cancel();
    this.#closed ??= this.#worker.close({ kind: 'stop', graceMs });
    await this.#closed;
    this.#abortAll();
  }

  #data(): ListenerData {
    const { config, ends, engine, identity, switches, slots, time, headers, queueDepthMax } =
      this.#parts;
    const { host, tls, behindTlsProxy, requestLog, limitsEnforced, clock } = config;
    const shards = engine.statuses().length;
    return {
      config: { host, tls, behindTlsProxy, requestLog, limitsEnforced, clock },
      port: this.#main.port,
      headers,
      queueDepthMax,
      memory: {
        ...{ time, versions: identity.versions.memory, switches: switches.memory },
        counts: slots.memory,
      },
      ends: Array.from({ length: shards }, (_, shard) => ends.of(this.#at, shard)),
      roaming: engine.roamingKeys(),
      isPaused: this.pauses > 0,
    };
  }

  #take(message: FromListener): void {
    const { log, metrics, counts } = this.#parts;
    switch (message.kind) {
      case 'listens':
        this.#restarts.opened(false);
        this.#reason = null;
        this.#hasListened = true;
        return this.#listens.resolve();
      case 'request':
        return this.#serve(message);
      case 'caller':
        return this.#requests.get(message.number)?.take(message.report);
      case 'again':
        return this.#grantAgain(message.id, message.caller);
      case 'trade':
        return this.#trade(message);
      case 'used':
        this.#noteUse(message.keyId, message.atMs);
        return;
      case 'report':
        for (const tally of message.requests) metrics.add(tally);
        return counts.changedElsewhere(message.counted);
      case 'log':
        return log[message.level](message.fields, message.message);
      case 'settled':
        return this.#worker.answered(message.id, undefined);
      case 'failed':
        this.#reason = message.reason;
        return;
      default:
        message satisfies never;
    }
  }

  #serve({ number, head, wanted }: Extract<FromListener, { kind: 'request' }>): void {
    if (wanted !== null) this.#grant(wanted);
    const response = new RelayedResponse(
      {
        answer: (part) => this.post({ kind: 'answer', number, part }),
        socket: (call) => this.post({ kind: 'socket', number, call }),
        done: () => this.#requests.delete(number),
      },
      head.address,
    );
    this.#requests.set(number, response);
    this.#main.serve(response, head);
  }

  /** The listener serves the key itself from now on, if it is usable. */
  #grant(sent: SentCredential): void {
    const { authorization, ownHeader } = sent;
    let caller: KeyCaller | null;
    try {
      caller = this.#find(authorization, ownHeader);
      // A use that is noted later would end the grant at once.
      if (caller !== null && this.#noteUse(caller.key.id, Date.now())) {
        caller = this.#find(authorization, ownHeader);
      }
    } catch {
      // The request itself is refused with the reason.
      return;
    }
    const grant = caller === null ? null : this.#grantOf(caller);
    if (grant !== null) this.post({ kind: 'grant', sent, grant });
  }

  #grantAgain(id: number, { keyId, token }: { keyId: Uuid; token: string }): void {
    const caller = this.#find(`Bearer ${token}`, '');
    const isSame = caller !== null && caller.key.id === keyId;
    this.post({ kind: 'granted', id, grant: isSame ? this.#grantOf(caller) : null });
  }

  /** Null: its requests cannot be counted there. */
  #grantOf(caller: KeyCaller): Grant | null {
    const { identity, counts, slots } = this.#parts;
    const { user, key } = caller;
    // Begun with what is stored of them.
    for (const id of [user.id, key.id]) counts.of(id);
    const [ofUser, ofKey] = [slots.of(user.id), slots.of(key.id)];
    if (ofUser === null || ofKey === null) return null;
    return {
      caller: { ...caller, key: { ...key, hash: '' } },
      venueKeys: OUR_VENUES.filter((venue) => identity.venueKey(user.id, venue) !== undefined),
      realism: identity.realism.of(user.id),
      versions: { user: identity.versions.of(user.id), key: identity.versions.of(key.id) },
      slots: { user: ofUser, key: ofKey },
    };
  }

  #trade({ id, owner, command }: Extract<FromListener, { kind: 'trade' }>): void {
    this.#parts.engine.trade(owner, command, {
      resolve: (reply) => this.post({ kind: 'traded', id, reply }),
      reject: (error) => {
        const { message } = error;
        const retryAfterSeconds = error instanceof Unavailable ? error.retryAfterSeconds : 1;
        this.post({ kind: 'not_traded', id, message, retryAfterSeconds });
      },
    });
  }

  /** Whether the use is noted. */
  #noteUse(keyId: Uuid, atMs: number): boolean {
    const { identity, log } = this.#parts;
    const key = identity.keys.get(keyId);
    if (key === undefined || !isLastUseStale(key, atMs)) return false;
    identity.noteUse(key, atMs, (error) => {
      log.error({ err: error }, 'the last use of a key could not be written');
    });
    return true;
  }

  /** Its requests have no callers any more, and others may use its ends. */
  #ended(error: Error): void {
    const { log, engine, counts } = this.#parts;
    const reason = this.#reason ?? error.message;
    log.error({ error: reason }, `${this.#name} failed; starting it again`);
    this.#abortAll();
    counts.changedElsewhere();
    this.#renewed = engine.renewEnds(this.#at);
    if (!this.#hasListened) return this.#listens.reject(new Error(`${this.#name}: ${reason}`));
    void this.#renewed.then(() => {
      if (this.#closed === null) this.#restarts.later(reason, () => this.#worker.start());
    });
  }

  #abortAll(): void {
    for (const response of [...this.#requests.values()]) response.take({ kind: 'gone' });
    this.#requests.clear();
  }
}

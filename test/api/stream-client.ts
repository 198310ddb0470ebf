/** Clients of the stream: `ws`, and the WebSocket that browsers have, in JSON and in msgpack. */
import type { ExecutionContext } from 'ava';
import { Packr } from 'msgpackr';
import { WebSocket as WsSocket } from 'ws';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import { CATALOG } from '../engine/fixtures.ts';
import type { Json } from './support.ts';

const WAIT_MS_MAX = 30_000;
const packr = new Packr({ useRecords: false });

export type StreamClient = {
  send(message: object): void;
  /** Sends bytes that are no message. */
  sendRaw(message: string | Uint8Array): void;
  /** Sends a message with an id, and waits for its answer. */
  ask(message: object): Promise<{ status: number; body: Json }>;
  /** The next message that is no answer and no heartbeat. */
  next(): Promise<Json>;
  heartbeat(): Promise<Json>;
  /** The code and reason of the close frame. */
  closed: Promise<{ code: number; reason: string }>;
  /** Messages that no caller has waited for. */
  waiting: Json[];
  protocol: string;
  /** Reads nothing more, until `resume`. Of `ws` alone. */
  pause(): void;
  resume(): void;
  close(): void;
};

export type ClientOptions = {
  /** Null: only the headers. */
  token: string | null;
  protocol?: 'msgpack' | 'json';
  kind?: 'ws' | 'browser';
  headers?: Record<string, string>;
};

/** The protocol and the kind of a client: every pair is tried. */
export const CLIENTS = (['ws', 'browser'] as const).flatMap((kind) => {
  return (['json', 'msgpack'] as const).map((protocol) => ({ kind, protocol }));
});

/** Connects; rejects if the handshake is refused. */
export async function openStream(
  t: ExecutionContext,
  port: number,
  { token, protocol, kind = 'ws', headers: more = {} }: ClientOptions,
): Promise<StreamClient> {
  const url = `ws://127.0.0.1:${port}/v1/stream`;
  const bearer: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const headers = { ...bearer, ...more };
  const protocols = protocol === undefined ? [] : [protocol];
  const socket = (
    kind === 'ws'
      ? new WsSocket(url, protocols, { headers })
      : new WebSocket(url, { headers, protocols } as unknown as string[])
  ) as WebSocket;
  socket.binaryType = 'arraybuffer';
  const isBinary = protocol === 'msgpack';
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }));
  });
  const inbox = new Inbox();
  socket.addEventListener('message', ({ data }) => {
    // No assertion: messages may arrive until the socket is closed, after the end of the test.
    if ((typeof data === 'string') === isBinary) throw new Error('a frame of the other kind');
    inbox.take(isBinary ? packr.unpack(new Uint8Array(data)) : JSON.parse(data));
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error('the handshake was refused')));
  });
  t.teardown(() => socket.close());
  const send = (message: object) => {
    socket.send(isBinary ? new Uint8Array(packr.pack(message)) : JSON.stringify(message));
  };
  return {
    send,
    sendRaw: (message) => socket.send(message as string),
    ask: (message) => {
      const id = inbox.nextId();
      send({ id, ...message });
      return inbox.answer(id);
    },
    next: () => inbox.message(),
    heartbeat: () => inbox.heartbeat(),
    closed,
    waiting: inbox.messages,
    protocol: socket.protocol,
    pause: () => (socket as unknown as WsSocket).pause(),
    resume: () => (socket as unknown as WsSocket).resume(),
    close: () => socket.close(),
  };
}

class Inbox {
  readonly messages: Json[] = [];
  readonly #answers = new Map<string, (answer: Json) => void>();
  #wanted: ((message: Json) => void)[] = [];
  #heartbeats: ((message: Json) => void)[] = [];
  #ids = 0;

  take(message: Json): void {
    if ('heartbeat' in message) {
      for (const resolve of this.#heartbeats.splice(0)) resolve(message.heartbeat);
      return;
    }
    const resolve = this.#answers.get(message.id) ?? this.#wanted.shift();
    this.#answers.delete(message.id);
    if (resolve === undefined) this.messages.push(message);
    else resolve(message);
  }

  nextId(): string {
    this.#ids++;
    return `m${this.#ids}`;
  }

  answer(id: string): Promise<Json> {
    return soon(`the answer to ${id}`, (resolve) => this.#answers.set(id, resolve));
  }

  message(): Promise<Json> {
    const message = this.messages.shift();
    if (message !== undefined) return Promise.resolve(message);
    return soon('a message', (resolve) => this.#wanted.push(resolve));
  }

  heartbeat(): Promise<Json> {
    return soon('a heartbeat', (resolve) => this.#heartbeats.push(resolve));
  }
}

/** Rejects if it does not arrive at all. */
function soon(what: string, wait: (resolve: (message: Json) => void) => void): Promise<Json> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} did not come`)), WAIT_MS_MAX);
    wait((message) => {
      clearTimeout(timer);
      resolve(message);
    });
  });
}

/** So many instruments of the one market, number 0. */
export function catalogOfMany(count: number): Catalog {
  const [instrument] = CATALOG.instruments;
  const instrumentIds = Array.from({ length: count }, (_, at) => {
    return `ins_${String(at).padStart(12, '0')}`;
  });
  const instruments = instrumentIds.map((id) => ({ ...instrument!, id, slug: id.toLowerCase() }));
  return { ...CATALOG, instruments, instrumentIds };
}

/** `after` as a patch of RFC 7396 makes it of `before`. */
export function patched(before: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const after = typeof before === 'object' && before !== null ? { ...before } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete after[name];
    else after[name] = patched(after[name], value);
  }
  return after;
}

/**
 * Subscribers of quotes, in their own process: sockets that count their messages. A message is not
 * parsed, because they share the cores with the server.
 */
import { connect } from 'node:net';
import { FRAME_MASK, handshake, maskedText, PING, PONG } from '../lib/websocket-frames.ts';

export type SubscribersJob = {
  port: number;
  path: string;
  /** Lines of the handshake of each socket, which say who it is; fewer are used in turn. */
  credentials: string[];
  /** The text that each socket sends first. */
  commands: string[];
  /** How each message begins that is counted. */
  counted: string;
  /** So many are counted before all have subscribed. */
  snapshots: number;
};
export type FromSubscribers =
  | { kind: 'subscribed' }
  /** Messages of channels since the start; `gaps` of them only reported lost messages. */
  | { kind: 'counted'; messages: number; bytes: number; gaps: number }
  | { kind: 'failed'; message: string };

const OPENING_AT_ONCE = 100;
const SNAPSHOT_WAIT_MS = 50;

let messages = 0;
let bytes = 0;
let gaps = 0;
let counted = Buffer.alloc(0);
const GAP = Buffer.from('"gap":true}');

process.on('message', (job: SubscribersJob | 'count') => {
  if (job === 'count') return send({ kind: 'counted', messages, bytes, gaps });
  open(job).then(
    () => send({ kind: 'subscribed' }),
    (error: unknown) => send({ kind: 'failed', message: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));

function send(message: FromSubscribers): void {
  process.send!(message);
}

async function open(job: SubscribersJob): Promise<void> {
  const { credentials, commands, snapshots } = job;
  counted = Buffer.from(job.counted);
  for (let from = 0; from < commands.length; from += OPENING_AT_ONCE) {
    const wanted = commands.slice(from, from + OPENING_AT_ONCE);
    await Promise.all(
      wanted.map((command, at) =>
        subscribe(job, credentials[(from + at) % credentials.length]!, command),
      ),
    );
  }
  while (messages < snapshots) {
    await new Promise((resolve) => setTimeout(resolve, SNAPSHOT_WAIT_MS));
  }
}

function subscribe(
  { port, path }: SubscribersJob,
  credential: string,
  command: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('connect', () => socket.write(handshake(port, path, credential)));
    socket.once('data', (answer: Buffer) => {
      if (!answer.toString('latin1').startsWith('HTTP/1.1 101 ')) {
        reject(new Error(answer.toString('latin1')));
        return;
      }
      socket.write(maskedText(command));
      // The server disconnects a client that answers no pings.
      const frames = new FrameCounter(() => socket.write(PONG));
      socket.on('data', (received: Buffer) => frames.take(received));
      resolve();
    });
  });
}

/** Reads only the heads of frames. */
class FrameCounter {
  #rest: Buffer = Buffer.alloc(0);
  readonly #onPing: () => void;

  constructor(onPing: () => void) {
    this.#onPing = onPing;
  }

  take(received: Buffer): void {
    bytes += received.length;
    const all = this.#rest.length === 0 ? received : Buffer.concat([this.#rest, received]);
    let at = 0;
    for (;;) {
      if (at + 2 > all.length) break;
      const short = all[at + 1]! & ~FRAME_MASK;
      const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
      if (start > all.length) break;
      const length =
        short < 126
          ? short
          : short === 126
            ? all.readUInt16BE(at + 2)
            : Number(all.readBigUInt64BE(at + 2));
      if (start + length > all.length) break;
      if (all[at] === PING) this.#onPing();
      at = start + length;
      this.#count(all, start, at);
    }
    this.#rest = at === all.length ? Buffer.alloc(0) : Buffer.from(all.subarray(at));
  }

  #count(all: Buffer, start: number, end: number): void {
    if (end - start < GAP.length) return;
    if (all.compare(counted, 0, counted.length, start, start + counted.length) !== 0) return;
    if (all.compare(GAP, 0, GAP.length, end - GAP.length, end) === 0) gaps++;
    else messages++;
  }
}

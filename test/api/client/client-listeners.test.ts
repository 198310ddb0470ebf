/** Listeners of the client's stream that throw or are slow, and a socket that takes no more. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { createClient, type StreamSocket } from 'paperbook/client';
import { WebSocket as WsSocket } from 'ws';
import { eventually } from '../../../bench/lib/eventually.ts';
import { quoteTick } from '../../engine/fixtures.ts';
import { longTest } from '../../long-test.ts';
import { NOW_MS } from '../samples.ts';
import { catalogOfMany } from '../stream-client.ts';
import { startApi } from '../support.ts';

const INSTRUMENTS = 200;

longTest(
  'J15: a program that does not read for a while gets gaps, and then quotes as they are',
  async (t) => {
    const catalog = catalogOfMany(INSTRUMENTS);
    const api = await startApi(t, { catalog });
    const sockets: WsSocket[] = [];
    class KeptSocket extends WsSocket {
      constructor(url: string, options: object) {
        super(url, options);
        sockets.push(this);
      }
    }
    const client = createClient({ baseUrl: api.baseUrl, credential: api.token });
    const stream = client.stream({ WebSocket: KeptSocket });
    t.teardown(() => stream.close());
    const bids = new Map<string, number | null | undefined>();
    stream.on('quote', ({ quote }) =>
      bids.set(quote.instrumentId, quote.venues[0]?.yesBidContracts),
    );
    let gaps = 0;
    stream.on('gap', () => gaps++);
    const channels = catalog.instrumentIds.map((id) => `quotes:${id}` as const);
    await stream.subscribe(...channels);
    // What another one has read was sent to both, however slow the machine is.
    const reader = client.stream();
    t.teardown(() => reader.close());
    const read = new Map<string, number | null | undefined>();
    reader.on('quote', ({ quote }) =>
      read.set(quote.instrumentId, quote.venues[0]?.yesBidContracts),
    );
    await reader.subscribe(...channels);
    const areAll = (contracts: typeof read, wanted: number) =>
      contracts.size === INSTRUMENTS && [...contracts.values()].every((n) => n === wanted);
    sockets[0]!.pause();
    // More than the buffers of both ends hold.
    let change = 0;
    for (; change < 130; change++) {
      const yesBidCents = 30 + (change % 2);
      const tick = quoteTick({ atMs: NOW_MS, yesBidCents, yesBidContracts: change });
      api.engine.tick(tick);
      api.context.changed.note(tick);
      await eventually('the change is sent', async () => (areAll(read, change) ? true : null));
    }
    sockets[0]!.resume();
    await eventually('all quotes as they are', async () =>
      areAll(bids, change - 1) ? true : null,
    );
    // Where it took long to make these changes, the server has ended the connection instead.
    t.true(gaps >= INSTRUMENTS || sockets.length > 1, String(gaps));
  },
);

const THROWING = `
import { createClient } from '${fileURLToPath(import.meta.resolve('paperbook/client'))}';
process.on('uncaughtException', ({ message }) => console.log('uncaught', message));
const [baseUrl, credential] = process.argv.slice(1);
const stream = createClient({ baseUrl, credential }).stream();
let games = 0;
stream.on('games', () => { throw new Error('mine'); });
stream.on('games', () => console.log('games', ++games));
await stream.subscribe('games');
await stream.subscribe('orders').catch(({ code }) => console.log(code));
setTimeout(() => stream.close(), 100);
`;

test('a listener that throws keeps no other from its event, and the stream goes on', async (t) => {
  const api = await startApi(t);
  const token = await api.addKey({ scopes: ['markets:read'] });
  const args = ['--input-type=module', '--eval', THROWING, api.baseUrl, token];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  t.deepEqual(stdout.trim().split('\n').sort(), ['games 1', 'insufficient_scope', 'uncaught mine']);
});

/** A socket that is open at once and sends nothing. */
class StuckSocket implements StreamSocket {
  bufferedAmount = 0;
  onopen: StreamSocket['onopen'] = null;
  onmessage: StreamSocket['onmessage'] = null;
  onclose: StreamSocket['onclose'] = null;
  onerror: StreamSocket['onerror'] = null;

  constructor() {
    queueMicrotask(() => this.onopen?.({}));
  }

  send(text: string): void {
    this.bufferedAmount += text.length;
  }

  close(): void {}
}

test('a socket that does not send takes no more than a megabyte', async (t) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1/v1', credential: 'k' });
  const stream = client.stream({ WebSocket: StuckSocket });
  await stream.ready();
  const placed = Array.from({ length: 300 }, () => {
    const idempotencyKey = 'x'.repeat(5000);
    const body = { action: 'sell', type: 'market', tradeId: 'a', idempotencyKey } as const;
    return t.throwsAsync(stream.place(body));
  });
  stream.close();
  const outcomes = (await Promise.all(placed)).map((error) => {
    return (error as unknown as { outcome: string }).outcome;
  });
  const unknown = outcomes.filter((outcome) => outcome === 'unknown').length;
  t.true(unknown > 200 && unknown < 220, String(unknown));
  t.is(outcomes.filter((outcome) => outcome === 'not_sent').length, 300 - unknown);
});

test('a message that is not answered in time has an unknown outcome', async (t) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1/v1', timeoutMs: 50 });
  const stream = client.stream({ WebSocket: StuckSocket, heartbeatMs: 200 });
  t.teardown(() => stream.close());
  await stream.ready();
  await t.throwsAsync(stream.cancel('one'), { message: /in time: the outcome is unknown$/ });
  t.is(stream.state.state, 'open');
});

test('J1: a WebSocket that sends no headers is refused with the reason', async (t) => {
  class BrowserSocket extends StuckSocket {
    constructor(url: string, protocols?: string | string[]) {
      super();
      new WebSocket(url, protocols).close();
    }
  }
  const client = createClient({ baseUrl: 'http://127.0.0.1:1/v1', credential: 'k' });
  const BrowserLike = class extends BrowserSocket {
    constructor(url: string, protocols?: unknown) {
      super(url, protocols === undefined ? undefined : String(protocols));
    }
  };
  const stream = client.stream({ WebSocket: BrowserLike });
  await t.throwsAsync(stream.ready(), { message: /a browser sends no credential/ });
});

/** The stream of `paperbook/client` and a server that is killed, and started again. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { createClient, type OrderRequest } from 'paperbook/client';
import { eventually } from '../../bench/lib/eventually.ts';
import { startRelay } from '../api/relay.ts';
import { variantsOfRun } from '../model/seeds.ts';
import { startFor, startServer } from './server.ts';

test('J23: after a server was killed each event still comes once, in order', async (t) => {
  let server = await startFor(t, 'demo');
  const { dataDir, baseUrl } = server;
  const { key } = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
  const relay = await startRelay(t, Number(new URL(baseUrl).port));
  const stream = createClient({ baseUrl: relay.baseUrl, credential: key }).stream({
    firstPauseMs: 20,
  });
  let client = createClient({ baseUrl, credential: key });
  t.teardown(() => stream.close());
  const seen: string[] = [];
  stream.on('order', ({ event }) => seen.push(event.eventId));
  stream.on('gap', ({ channel }) => t.fail(channel));
  await stream.subscribe('orders');
  const [instrument] = await eventually('an instrument', async () => {
    const { instruments } = await client.listInstruments({ query: { tradable: true, limit: 1 } });
    return instruments.length === 0 ? null : instruments;
  });
  let orders = 0;
  const rest = async () => {
    orders++;
    const body: OrderRequest = {
      ...({ action: 'buy', type: 'limit', side: 'yes', count: 1, limitPriceCents: 1 } as const),
      ...{ instrumentId: instrument!.id, idempotencyKey: `kill-${orders}` },
    };
    await client.placeOrder({ body });
  };
  const [killsMax] = variantsOfRun([1, 2]).slice(-1);
  for (let kills = 0; kills < killsMax!; kills++) {
    await rest();
    await server.command.end('SIGKILL');
    server = await startServer('demo', dataDir);
    t.teardown(async () => {
      if (server.command.isRunning) await server.command.end('SIGKILL');
    });
    client = createClient({ baseUrl: server.baseUrl, credential: key });
    await rest();
    await rest();
    // It comes back after these.
    relay.port = Number(new URL(server.baseUrl).port);
    await stream.ready();
  }
  const { canceled } = await stream.cancelAll();
  t.is(canceled.length, orders);
  const events = await eventually('all events', async () => {
    const page = await client.listEvents({ query: { limit: 500 } });
    return page.events.length === seen.length ? page.events : null;
  });
  t.deepEqual(
    seen,
    events.map(({ eventId }) => eventId),
  );
  t.true(seen.length >= 2 * orders);
});

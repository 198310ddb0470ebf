/** Requests to a venue's REST API over connections that the venue ends. */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { askRest } from '../../../feeds/connection/rest.ts';

/** A venue that ends a connection when so many requests came over it; it counts what came. */
async function venueOf(t: ExecutionContext, answers: number, amid = false) {
  const seen = new Map<Socket, number>();
  const venue = { url: new URL('http://127.0.0.1'), requests: 0, connections: 0, heads: '' };
  const server = createServer((request, response) => {
    const { socket } = request;
    const before = seen.get(socket) ?? 0;
    if (before === 0) venue.connections++;
    seen.set(socket, before + 1);
    venue.requests++;
    venue.heads = `${request.method} ${request.url} ${request.headers.accept}`;
    if (before < answers) {
      response.end(JSON.stringify({ markets: [venue.requests] }));
      return;
    }
    if (!amid) return socket.destroy();
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"markets":', () => socket.destroy());
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  venue.url = new URL(`http://127.0.0.1:${port}/trade-api/v2/markets?limit=2`);
  return venue;
}

for (const amid of [false, true]) {
  const when = amid ? 'amid an answer' : 'without an answer';
  test(`W98: a kept connection that ends ${when} is no failure: the request goes over a fresh one`, async (t) => {
    const venue = await venueOf(t, 1, amid);
    t.deepEqual(await askRest(venue.url), { markets: [1] });
    // The connection is kept once it is idle.
    await sleep(50);
    t.deepEqual(await askRest(venue.url), { markets: [3] });
    t.is(venue.connections, 2, 'the first one was kept');
    t.is(venue.heads, 'GET /trade-api/v2/markets?limit=2 application/json');
  });
}

test('W98, K21: a venue that ends each connection is asked twice, and its failure has the address alone', async (t) => {
  const venue = await venueOf(t, 0);
  const error = await t.throwsAsync(askRest(venue.url));
  t.regex(error.message, /^http:\/\/127\.0\.0\.1:\d+\/trade-api\/v2\/markets: E?[A-Z_]+$/);
  t.is(venue.requests, 2);
});

test('W98: what else a fresh connection answers counts as ever', async (t) => {
  const venue = await venueOf(t, 1);
  await askRest(venue.url);
  const stop = new AbortController();
  stop.abort(new Error('no more'));
  await t.throwsAsync(askRest(venue.url, { signal: stop.signal }), { message: 'no more' });
  t.is(venue.requests, 1, 'a stop is no lost connection');
});

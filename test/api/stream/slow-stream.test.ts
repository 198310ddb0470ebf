/** Clients of the stream that do not read what they are sent. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { quoteTick } from '../../engine/fixtures.ts';
import { longTest } from '../../long-test.ts';
import { NOW_MS } from '../samples.ts';
import { catalogOfMany, openStream, patched } from '../stream-client.ts';
import { type Api, type Json, startApi } from '../support.ts';

const INSTRUMENTS = 200;

/**
 * All quotes change so many times. Each change is a message: a busy server would join changes that
 * follow each other, so the next one waits until `reader` has this one.
 */
async function changeAll(
  api: Api,
  times: number,
  reader?: { waiting: Json[]; channels: number },
): Promise<void> {
  for (let change = 0; change < times; change++) {
    const before = reader?.waiting.length ?? 0;
    const tick = quoteTick({
      atMs: NOW_MS,
      yesBidCents: 30 + (change % 2),
      yesBidContracts: change,
    });
    api.engine.tick(tick);
    api.context.changed.note(tick);
    const endMs = performance.now() + 5000;
    do await sleep(25);
    while (
      reader !== undefined &&
      reader.waiting.length < before + reader.channels &&
      performance.now() < endMs
    );
  }
}

test('J15: a client that does not read for a while gets a gap and a new snapshot, and others all', async (t) => {
  const catalog = catalogOfMany(INSTRUMENTS);
  const api = await startApi(t, { catalog });
  const channels = catalog.instrumentIds.map((id) => `quotes:${id}`);
  const slow = await openStream(t, api.port, { token: api.token });
  const quick = await openStream(t, api.port, { token: api.token });
  // The last channel has each change last. More of them would only take longer, and who reads nothing
  // for ten seconds is cut.
  const [channel, last] = [channels[7]!, channels.at(-1)!];
  for (const [client, wanted] of [
    [slow, channels],
    [quick, [channel, last]],
  ] as const) {
    await client.ask({ op: 'subscribe', channels: wanted });
    for (let snapshots = 0; snapshots < wanted.length; snapshots++) await client.next();
  }
  slow.pause();
  // More than the buffers of both ends hold.
  await changeAll(api, 130, { waiting: quick.waiting, channels: 2 });
  slow.resume();
  const seen: Json[] = [];
  let gaps = 0;
  while (seen.at(-1)?.snapshot !== true) {
    const message = await slow.next();
    if (message.gap === true) gaps++;
    if (message.channel === channel) seen.push(message);
  }
  const gap = seen.findIndex((message) => message.gap === true);
  t.is(gap, seen.length - 2, 'the gap is in front of the snapshot');
  t.true(seen.at(-1).seq > (seen.at(gap - 1)?.seq ?? 1) + 1, 'messages are missing');
  while (gaps < INSTRUMENTS) if ((await slow.next()).gap === true) gaps++;

  let quote: Json = null;
  const all = quick.waiting.filter((message) => message.channel === channel);
  t.false(all.some((message) => message.gap === true));
  t.deepEqual(
    all.map(({ seq }) => seq),
    all.map((_, at) => at + 2),
  );
  quote = all.reduce((before, { data }) => patched(before, data), {});
  t.deepEqual(seen.at(-1).data.venues, quote.venues);
});

test('J16: a client that reads no answers is dropped, and closed with 4408', async (t) => {
  const api = await startApi(t);
  const client = await openStream(t, api.port, { token: api.token });
  client.pause();
  const ping = JSON.stringify({ id: 'x'.repeat(128), op: 'ping' });
  const handled = () => api.meter.usage(api.user).month.used;
  // No more at once than is handled, until nothing is.
  for (let isHandled = true; isHandled; ) {
    const before = handled();
    for (let sent = 0; sent < 1000; sent++) client.sendRaw(ping);
    const deadlineMs = performance.now() + 5000;
    while (handled() < before + 1000 && performance.now() < deadlineMs) await sleep(10);
    isHandled = handled() >= before + 1000;
  }
  client.resume();
  t.is((await client.closed).code, 4408);
});

longTest(
  'J15: a client that reads nothing is disconnected, and is no connection of its account any more',
  async (t) => {
    const catalog = catalogOfMany(INSTRUMENTS);
    const api = await startApi(t, { catalog });
    const open = () => openStream(t, api.port, { token: api.token });
    const slow = await open();
    const channels = catalog.instrumentIds.map((id) => `quotes:${id}`);
    await slow.ask({ op: 'subscribe', channels });
    for (let others = 1; others < 20; others++) await open();
    slow.pause();
    await changeAll(api, 130);
    await t.throwsAsync(open());
    const deadlineMs = performance.now() + 60_000;
    let isOpen = false;
    while (!isOpen && performance.now() < deadlineMs) {
      await sleep(500);
      isOpen = await open().then(
        () => true,
        () => false,
      );
    }
    t.true(isOpen);
  },
);

import { connect } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { HistorySource } from '../../../api/read-side/history-source.ts';
import { CATALOG } from '../../engine/fixtures.ts';
import { type Api, startApi } from '../support.ts';

const PIECE = `${'x'.repeat(99_999)}\n`;
const LETTER = 'x'.charCodeAt(0);
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

type Endless = { history: HistorySource; asked: () => number };

/** An export of `pieces` of 100 KB each, which counts how many were asked for. */
function exporting(pieces: number, failsAt = Number.POSITIVE_INFINITY): Endless {
  let asked = 0;
  return {
    asked: () => asked,
    history: {
      kind: 'embedded',
      ask: async () => {
        asked++;
        await nextTurn();
        if (asked > failsAt) throw new Error('a damaged block');
        return { text: PIECE, next: asked >= pieces ? null : asked };
      },
      tops: async () => [],
      marketNumber: () => 0,
    },
  };
}

const start = (t: ExecutionContext, { history }: Endless) =>
  startApi(t, { catalog: CATALOG, history });

/** A caller who sends a request for an export and reads nothing until told to. */
function silentCaller(t: ExecutionContext, api: Api) {
  const socket = connect(api.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.write(
    `GET /v1/history/export?ticker=T1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\n\r\n`,
  );
  return socket;
}

async function settled(count: () => number): Promise<number> {
  for (let before = -1; ; ) {
    await sleep(300);
    // What never stops is not waited for.
    if ((count() === before && before > 0) || count() > 5000) return count();
    before = count();
  }
}

test('H16: who stops reading costs what the sockets hold, not the export', async (t) => {
  const endless = exporting(100_000);
  const api = await start(t, endless);
  const caller = silentCaller(t, api);
  const asked = await settled(endless.asked);
  t.true(asked < 200, `${asked} pieces of 100 KB were asked for, of 100,000`);
  caller.destroy();
});

test('H16: a caller who is gone is asked for no longer', async (t) => {
  const endless = exporting(100_000);
  const api = await start(t, endless);
  const caller = silentCaller(t, api);
  await settled(endless.asked);
  caller.destroy();
  const asked = await settled(endless.asked);
  await sleep(1000);
  t.is(endless.asked(), asked);
});

test('H16: who reads late gets it whole', async (t) => {
  const some = exporting(150);
  const api = await start(t, some);
  const caller = silentCaller(t, api);
  await settled(some.asked);
  const parts: Buffer[] = [];
  for await (const part of caller.resume()) {
    parts.push(part);
    if (part.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) break;
  }
  const whole = Buffer.concat(parts);
  const begin = whole.indexOf('\r\n\r\n');
  t.regex(whole.toString('latin1', 0, begin), /^HTTP\/1\.1 200 OK/);
  let letters = 0;
  for (const byte of whole.subarray(begin)) if (byte === LETTER) letters++;
  t.is(letters, 150 * 99_999);
});

test('H16: where the rest cannot be had, the body has no end', async (t) => {
  const api = await start(t, exporting(10, 5));
  const headers = { authorization: `Bearer ${api.token}` };
  const response = await fetch(`${api.baseUrl}/history/export?ticker=T1`, { headers });
  t.is(response.status, 200);
  await t.throwsAsync(response.text());
  const again = await api.call('GET', '/status', { token: null });
  t.is(again.status, 200);
});

test('H16: what cannot be answered at all is refused before the body begins', async (t) => {
  const api = await start(t, exporting(10, 0));
  const answer = await api.call('GET', '/history/export?ticker=T1');
  t.is(answer.status, 500);
  t.is(answer.json.error.code, 'internal_error');
});

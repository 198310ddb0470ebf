/** How requests that come at once share the turns of the event loop. */
import type * as uws from 'uWebSockets.js';
import test from 'ava';
import { headerLines } from '../../../api/http/header-lines.ts';
import { HttpContext, newHeld } from '../../../api/http/http-context.ts';
import { RelayedRequest } from '../../../api/http/relayed-request.ts';
import { RequestTurns } from '../../../api/http/request-turns.ts';
import { RawConnection, request } from '../raw-connection.ts';
import { startApi } from '../support.ts';

/** A loop whose clock each request moves on by a millisecond. */
function world() {
  let nowMs = 0;
  let later: (() => void)[] = [];
  const order: string[] = [];
  const turns = new RequestTurns({
    budgetMs: 2,
    oneEachMs: 20,
    now: () => nowMs,
    later: (run) => void later.push(run),
  });
  const serve = (name: string) => {
    order.push(name);
    nowMs++;
  };
  return {
    turns,
    order,
    come(by: string, name: string) {
      if (turns.hasTime({ sentBy: by })) serve(name);
      else turns.wait(by, () => serve(name));
    },
    body(by: string, name: string) {
      turns.takeBody(by, () => serve(name));
    },
    /** All that was read has been served or waits: the turn ends. */
    endTurn() {
      const due = later;
      later = [];
      for (const run of due) run();
    },
  };
}

test('Q21: what is beyond a turn waits, and callers take turns in those that follow', (t) => {
  const { come, endTurn, order } = world();
  for (let n = 0; n < 12; n++) come('a', `a${n}`);
  for (let n = 0; n < 3; n++) come('b', `b${n}`);
  t.deepEqual(
    order.splice(0),
    [...Array.from({ length: 8 }, (_, n) => `a${n}`), 'a8', 'b0'],
    'eight at once, whatever the time, and one more of each caller',
  );
  endTurn();
  t.deepEqual(order.splice(0), ['a9', 'b1']);
  // Its one request of the turn.
  come('c', 'c0');
  t.deepEqual(order.splice(0), ['c0']);
  come('a', 'a12');
  come('c', 'c1');
  t.deepEqual(order, [], 'a caller who waits has no other request served before');
  endTurn();
  t.deepEqual(order.splice(0), ['a10', 'b2']);
  endTurn();
  t.deepEqual(order.splice(0), ['c1', 'a11']);
  endTurn();
  t.deepEqual(order.splice(0), ['a12']);
  endTurn();
  come('a', 'a13');
  t.deepEqual(order, ['a13'], 'where nobody waits, all is as before');
});

test('Q21: a turn that has taken long serves no more, whoever calls', (t) => {
  const { come, endTurn, order } = world();
  for (let n = 0; n < 30; n++) come(`caller ${n}`, `${n}`);
  t.is(order.length, 20);
  endTurn();
  t.is(order.length, 22);
});

test('Q21: bodies are worked on once all is read, then one of each caller, and the others wait', (t) => {
  const { body, come, endTurn, order } = world();
  body('a', 'a-body');
  come('a', 'a0');
  body('b', 'b-body');
  for (let n = 0; n < 3; n++) body('c', `c-body ${n}`);
  body('d', 'd-body');
  t.deepEqual(order.splice(0), ['a0'], 'more may be read in this turn');
  endTurn();
  t.deepEqual(order.splice(0), ['a-body', 'b-body', 'c-body 0', 'd-body', 'c-body 1', 'c-body 2']);
  endTurn();
  body('c', 'c-body 3');
  t.deepEqual(order, []);
  endTurn();
  t.deepEqual(order, ['c-body 3'], 'of the next turn');
});

test('Q21: a body is not worked on before the request of its caller that waits', (t) => {
  const { body, come, endTurn, order } = world();
  for (let n = 0; n < 12; n++) come('a', `a${n}`);
  order.splice(0);
  body('a', 'a-body');
  body('b', 'b-body');
  endTurn();
  t.deepEqual(order.splice(0), ['b-body', 'a9', 'a10']);
  endTurn();
  t.deepEqual(order, ['a11', 'a-body']);
});

test('Q21: a turn that has taken long works on no more bodies, whoever calls', (t) => {
  const { body, endTurn, order } = world();
  for (let n = 0; n < 30; n++) body(`caller ${n}`, `${n}`);
  endTurn();
  t.is(order.length, 22, 'twenty, and two that wait');
});

test('Q21: a body that came while its request waited does not wait again', (t) => {
  const { turns, come, endTurn } = world();
  for (let n = 0; n < 9; n++) come('a', `a${n}`);
  const had: string[] = [];
  turns.wait('a', () => {
    turns.takeBody('a', () => had.push('first'));
    turns.takeBody('a', () => had.push('second'));
    had.push('after them');
  });
  endTurn();
  t.deepEqual(had, ['first', 'second', 'after them']);
});

test('Q21, A62: thousands of pipelined requests of a connection end it, and others are served', async (t) => {
  const api = await startApi(t);
  const raw = new RawConnection(t, api.port);
  raw.send(request('GET', '/v1/me').repeat(5000));
  const { status } = await api.call('GET', '/me');
  t.is(status, 200);
  await raw.until(({ isClosed }) => isClosed);
  const answers = raw.text.match(/HTTP\/1.1 401/g)?.length ?? 0;
  t.true(answers < 5000, `${answers} were answered`);
});

test('Q21, A9: a body that comes while its request waits is read whole', async (t) => {
  const api = await startApi(t);
  const raws = Array.from({ length: 40 }, () => new RawConnection(t, api.port));
  const body = JSON.stringify({ text: 'x'.repeat(60_000) });
  const head = `POST /v1/portfolio/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\n`;
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  for (const raw of raws) raw.send(head + type + body);
  for (const raw of raws) {
    await raw.until(({ text, isClosed }) => isClosed || text.endsWith('}}'));
    t.regex(raw.text, /^HTTP\/1.1 400 [\s\S]*"action is required"}}$/);
  }
});

test('Q21, A202: callers at one address are told apart by their credential, a signing key too', (t) => {
  const sentBy = (...headers: string[]) => {
    const head = { method: 'GET', path: '/', query: '', headers, address: '', isHandshake: false };
    const res = { getRemoteAddressAsText: () => Buffer.from('10.0.0.1') };
    const [response, request] = [res, new RelayedRequest(head)] as unknown as [
      uws.HttpResponse,
      uws.HttpRequest,
    ];
    const options = { headers: headerLines([]), isBehindProxy: false, onAnswer: null };
    const held = newHeld();
    return new HttpContext(response, request, options, held).sentBy;
  };
  t.is(sentBy('kalshi-access-key', 'one'), 'one');
  t.is(sentBy('authorization', 'Bearer two'), 'Bearer two');
  t.is(sentBy(), '10.0.0.1');
});

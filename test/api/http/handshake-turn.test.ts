/** When a handshake is accepted: within the turn of its request where that can be. */

import type * as uws from 'uWebSockets.js';
import test from 'ava';
import { headerLines } from '../../../api/http/header-lines.ts';
import { HttpContext, newHeld } from '../../../api/http/http-context.ts';
import { Upgrade } from '../../../api/http/socket.ts';
import { SignIn } from '../../../api/identity/sign-in.ts';
import { ensureSigningKey } from '../../../api/identity/signing-key.ts';
import { startApi } from '../support.ts';

/** What is called of a response, and whether within `cork`. */
function response() {
  const calls: string[] = [];
  let isCorked = false;
  const called = (name: string) => () => calls.push(isCorked ? `${name} in cork` : name);
  const res = {
    writeStatus: called('writeStatus'),
    writeHeader: called('writeHeader'),
    upgrade: called('upgrade'),
    onAborted: () => {},
    cork: (write: () => void) => {
      isCorked = true;
      write();
      isCorked = false;
    },
  };
  return { calls, res: res as unknown as uws.HttpResponse };
}

test('J1: a handshake is accepted outside cork, which could close the socket', (t) => {
  const { calls, res } = response();
  const req = {
    forEach: () => {},
    getCaseSensitiveMethod: () => 'GET',
    getUrl: () => '/v1/stream',
    getQuery: () => '',
  } as unknown as uws.HttpRequest;
  const options = { headers: headerLines([]), isBehindProxy: false, onAnswer: null };
  const held = newHeld();
  const http = new HttpContext(res, req, options, held, {} as uws.us_socket_context_t);
  http.hold();
  http.leaveHandler();
  http.upgrade(new Upgrade('', () => t.fail() as never), headerLines([]));
  t.deepEqual(calls, ['writeStatus in cork', 'writeHeader in cork', 'upgrade']);
  t.is(held.count, 0);
});

test('J1, I26: the person of an own access token is known within the turn', async (t) => {
  const api = await startApi(t);
  const key = await ensureSigningKey(api.dataDir, api.context.log);
  const signIn = new SignIn(api.store, key, api.context.log, 'none');
  let isKnown = false;
  const asked = signIn.personOf(await api.signIn()).then((person) => {
    isKnown = true;
    return person;
  });
  for (let microtask = 0; microtask < 10; microtask++) await null;
  t.true(isKnown);
  t.like(await asked, { user: { id: api.user.id } });
});

/** The stream of the Python client: at a server, through a relay, and on scripted connections. */
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { newKey } from '../../../api/identity/keys.ts';
import { newUser } from '../../../api/identity/users.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { pythonWith, runPython } from '../python.ts';
import { type Relay, startRelay } from '../relay.ts';
import { TRADER_SCOPES } from '../support.ts';
import { startWhole } from '../whole-server.ts';

const PROGRAM = fileURLToPath(new URL('../python-stream.py', import.meta.url));
const SYNC = fileURLToPath(new URL('../python-sync-stream.py', import.meta.url));
const FAULTS = fileURLToPath(new URL('../python-faults.py', import.meta.url));
const WIDE = { newPerMinute: 1000, newPerDay: 1000, closingPerMinute: 1000 };

/** Loses the first event, and cuts the connection at every third one, once each. */
function disturb(relay: Relay): void {
  const seen = new Set<string>();
  relay.loses = ({ data }) => {
    const id = data?.eventId;
    if (id === undefined || seen.has(id)) return false;
    seen.add(id);
    if (seen.size % 3 === 0 && seen.size < 10) setImmediate(() => relay.cut());
    return seen.size === 1;
  };
}

// Where the machine has no such Python these are shown as skipped.
const python = pythonWith('httpx', 'websockets');
const withPython = python === null ? test.skip : test;

withPython(
  'a Python program gets every event once, places over the stream, and comes back',
  async (t) => {
    const { paperbook, instrumentIds } = await startWhole(t);
    const { identity, baseUrl } = paperbook;
    const tradeLimits = { key: WIDE, account: WIDE };
    const user = newUser({ email: 'bot@example.org', plan: 'enterprise', tradeLimits }, Date.now());
    await identity.addUser(user);
    const [own, brief] = [1, 2].map((at) => {
      return newKey(user.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now() + at);
    });
    await identity.putKey(own!.key);
    await identity.putKey(brief!.key);
    const relay = await startRelay(t, Number(new URL(baseUrl).port));
    disturb(relay);
    const addresses = [baseUrl, relay.baseUrl, own!.token, brief!.token];
    const running = runPython(python!, PROGRAM, ...addresses, instrumentIds[0]!);
    let hasEnded = false;
    const ended = running.finally(() => {
      hasEnded = true;
    });
    /** Does something once the program has sent such a message. */
    const once = async (op: string, start: string, act: () => void) => {
      await eventually(`${op} of ${start}`, async () => {
        const isSent = relay.sent.some((one) => one.op === op && one.channels[0].startsWith(start));
        return isSent || hasEnded ? true : null;
      });
      act();
    };
    const silence = once('unsubscribe', 'quotes:', () => relay.fallSilent());
    const revocation = once('unsubscribe', 'games', () => {
      void identity.putKey({ ...brief!.key, revokedAtMs: Date.now() });
    });
    const [said] = await Promise.all([ended, silence, revocation]);
    t.deepEqual(said.early, ['not_sent', true]);
    t.is(said.unknown, 'instrument_not_found');
    t.deepEqual(
      [said.placed, said.badOrder, said.canceled],
      ['resting', 'invalid_request', 'canceled'],
    );
    t.is(said.all.length, 10);
    t.deepEqual(said.events.slice(0, 10), said.all, 'each once, in order');
    t.true(said.isLast && said.missed);
    t.true(said.replayed > 0);
    t.is(said.bids[0], 40);
    t.is(said.gaps, 0);
    t.is(said.canceledAll, 8);
    t.deepEqual(said.states.at(-1), ['waiting', 'the heartbeats of the server are missing']);
    t.deepEqual(said.batch, ['resting', 'invalid_request']);
    t.true(said.bounded, 'what nobody has iterated over comes later, each once');
    t.deepEqual([said.last, said.closed], ['closed', 'invalid_token']);
    t.is(said.refused, 'invalid_token');
  },
);

withPython('U61: a Python program without asyncio has callbacks, and iterates', async (t) => {
  const { paperbook, instrumentIds } = await startWhole(t);
  const { identity, baseUrl } = paperbook;
  const tradeLimits = { key: WIDE, account: WIDE };
  const user = newUser({ email: 'sync@example.org', plan: 'enterprise', tradeLimits }, Date.now());
  await identity.addUser(user);
  const own = newKey(user.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now());
  await identity.putKey(own.key);
  const said = await runPython(python!, SYNC, baseUrl, own.token, instrumentIds[0]!);
  t.deepEqual(said.types.toSorted(), ['order_canceled', 'order_placed', 'order_placed']);
  t.is(said.raised, 3, 'after the error of a callback the next event is shown');
  t.deepEqual([said.again, said.canceled, said.count], ['resting', 'canceled', 1]);
  t.deepEqual([said.state, said.done, said.open], ['open', true, false]);
  t.is(typeof said.label, 'string');
  t.regex(said.repr, /^<Stream ws:\/\/.*\/v1\/stream open \['orders', 'quotes:ins_/);
  t.is(said.iter, 'the events of this stream go to its callbacks');
  t.regex(said.after, /^the stream is not open/);
  t.deepEqual(said.iterated, said.types);
  t.true(said.closedWithin);
  t.deepEqual(said.threads, []);
});

withPython(
  'U90, U91: a Python program is safe from faults of its connections, and of proxies; its stream, and each call once, go to the node that a refusal names',
  async (t) => {
    const said = await runPython(python!, FAULTS);
    t.is(said.beforeAccepted, 'not_sent', 'an order would not end with its connection');
    t.deepEqual(said.sent, ['subscribe']);
    t.is(said.unavailable, 'done', 'subscribed to again on the next connection');
    t.is(said.firstRefused, 'instrument_not_found', 'also where the refusal comes at once');
    t.is(said.endedBetween, 'invalid_token', 'no wait for what never begins');
    t.is(said.behindProxy, 'done', 'a failure that passes');
    t.is(said.why, 'HTTP 502, which is no answer of the API');
    const [home, other] = ['ws://a/v1/stream', 'ws://b/v1/stream'];
    t.deepEqual(said['http://b'], ['not_leader', 'done', home, other]);
    t.deepEqual(said['https://c'], ['not_leader', 'done', home, 'wss://c/v1/stream']);
    t.deepEqual(said['ftp://d'], ['not_leader', 'done', home, home]);
    t.deepEqual(said.ended, [home, other, home], 'the node that was named is gone');
    t.deepEqual(
      said.secure,
      ['wss://a/v1/stream', 'wss://a/v1/stream'],
      'no credential leaves TLS',
    );
    t.deepEqual(said.blocked, ['open', 1], 'what came while the program did nothing is read first');
    t.is(said.org, 'org must be the id of an organization');
    t.is(said.garbled, 'DecodingError');
    const canceled = '/v1/portfolio/orders?instrumentId=ins_1 Bearer key ';
    t.deepEqual(
      said.led,
      ['a', 'b'].map((node) => `DELETE http://${node}${canceled}`),
    );
    t.deepEqual(said.ledOnce, ['not_leader', 2], 'once');
    t.true(said.ledSame, 'under the same idempotency key');
    t.deepEqual(said.ledSecure, ['not_leader', 'GET https://a/v1/me Bearer key ']);
  },
);

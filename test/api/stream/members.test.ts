/** What the stream asks before it shows an account: as each request does, and for as long as it lasts. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { type Key, newKey } from '../../../api/identity/keys.ts';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { newUser } from '../../../api/identity/users.ts';
import { request } from '../../process/client.ts';
import { openStream } from '../stream-client.ts';
import { type Json, startApi, TRADER_SCOPES } from '../support.ts';
import { sharedWhole, type WholeServer } from '../whole-server.ts';

const ORDERS = { op: 'subscribe', channels: ['orders'] };
const RESUME = { ...ORDERS, after: { orders: '0000000000000000' } };

type Trader = { id: string; key: Key; token: string };

async function newTrader({ paperbook }: WholeServer, email: string): Promise<Trader> {
  const user = newUser({ email, plan: 'enterprise' }, Date.now());
  await paperbook.identity.addUser(user);
  const { key, token } = newKey(user.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now());
  await paperbook.identity.putKey(key);
  return { id: user.id, key, token };
}

let orders = 0;

async function buy(
  t: ExecutionContext,
  server: WholeServer,
  token: string,
  headers: Record<string, string> = {},
): Promise<void> {
  orders++;
  const fields = { action: 'buy', type: 'market', side: 'yes', count: 1 };
  const body = { ...fields, instrumentId: server.instrumentIds[0], idempotencyKey: `k${orders}` };
  const url = `${server.origin}/v1/portfolio/orders`;
  t.is((await request(token, 'POST', url, body, headers)).status, 200);
}

const shared = sharedWhole();
const portOf = ({ origin }: WholeServer) => Number(new URL(origin).port);
const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body.error?.code];

test.serial(
  'J37: whoever was removed from an organization gets none of its events, and no channel of it',
  async (t) => {
    const server = await shared();
    const [owner, member] = [
      await newTrader(server, 'owner@example.org'),
      await newTrader(server, 'member@example.org'),
    ];
    const { organizations } = server.paperbook.identity;
    const { id, ...desk } = newOrganization({ slug: 'desk', name: 'Desk' }, Date.now());
    await organizations.add({ id, ...desk });
    const join = (userId: string, role: 'owner' | 'member') => {
      return organizations.putMember({ organizationId: id, userId, role, createdAtMs: 1 });
    };
    await join(owner.id, 'owner');
    await join(member.id, 'member');
    const headers = { 'x-service-org': id };
    const [watching, idle] = [
      await openStream(t, portOf(server), { token: member.token, headers }),
      await openStream(t, portOf(server), { token: member.token, headers }),
    ];
    t.is((await watching.ask(ORDERS)).status, 200);
    t.true((await watching.next()).snapshot);
    await buy(t, server, owner.token, headers);
    t.is((await watching.next()).data.type, 'trade_opened');

    await organizations.removeMember(id, member.id);
    await buy(t, server, owner.token, headers);
    const ended = await watching.next();
    t.like(ended, { channel: 'orders', ended: true, error: { code: 'organization_forbidden' } });
    for (const client of [watching, idle]) {
      for (const message of [ORDERS, RESUME]) {
        t.deepEqual(codeOf(await client.ask(message)), [403, 'organization_forbidden']);
      }
      const order = { action: 'buy', type: 'market', side: 'yes', count: 1 };
      const placed = { ...order, instrumentId: server.instrumentIds[0], idempotencyKey: 'none' };
      const answer = await client.ask({ op: 'place', order: placed });
      t.deepEqual(codeOf(answer), [403, 'organization_forbidden']);
      t.deepEqual(client.waiting, []);
    }
    await join(member.id, 'member');
    t.is((await watching.ask(RESUME)).status, 200);
    for (let event = 0; event < 2; event++) t.true((await watching.next()).replayed);
  },
);

test.serial(
  'J37: a key that was revoked gets no event, though its connection has not been looked at',
  async (t) => {
    const server = await shared();
    const trader = await newTrader(server, 'trader@example.org');
    const { key, token } = newKey(trader.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now() + 1);
    await server.paperbook.identity.putKey(key);
    const client = await openStream(t, portOf(server), { token });
    await client.ask(ORDERS);
    await client.next();
    await server.paperbook.identity.putKey({ ...key, revokedAtMs: Date.now() });
    await buy(t, server, trader.token);
    t.is((await client.closed).code, 4401);
    t.deepEqual(client.waiting, []);
  },
);

test('J37, I66: an organization service is asked at each subscription; later messages wait for it', async (t) => {
  const organization = { id: '0195d3a0-0000-7000-8000-0000000000aa', slug: 'acme', name: 'A' };
  const all = JSON.stringify({ organizations: [{ ...organization, role: 'owner' }] });
  let answer = (response: ServerResponse) => void response.end(all);
  const service = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    service.closeAllConnections();
    service.close();
  });
  const { port } = service.address() as AddressInfo;
  const env = { PAPERBOOK_ORGANIZATIONS_URL: `http://127.0.0.1:${port}` };
  const api = await startApi(t, { env });
  const headers = { 'x-service-org': organization.id };
  const client = await openStream(t, api.port, { token: api.token, headers });
  t.is((await client.ask(ORDERS)).status, 200);
  await client.ask({ op: 'unsubscribe', channels: ['orders'] });
  // Its answers are reused for 5 seconds.
  await sleep(5100);
  answer = (response) => void setTimeout(() => response.end('{"organizations":[]}'), 300);
  const order: string[] = [];
  const asked = client.ask(ORDERS).then((refused) => {
    order.push('subscribe');
    return refused;
  });
  await client.ask({ op: 'ping' }).then(() => order.push('ping'));
  t.deepEqual(codeOf(await asked), [403, 'organization_forbidden']);
  t.deepEqual(order, ['subscribe', 'ping']);
  await sleep(5100);
  answer = (response) => void response.writeHead(500).end();
  t.is((await client.ask(ORDERS)).status, 503);
});

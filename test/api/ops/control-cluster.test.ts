import test from 'ava';
import { eventually } from '../../../bench/lib/etcd.ts';
import { ask, askAdmin, Cluster, list, type Node } from '../cluster-nodes.ts';
import type { Json } from '../support.ts';

/** A session of Ann, who signs up; a leader without an answer of etcd is asked again. */
async function sessionOfAnn(leader: Node): Promise<string> {
  let session = '';
  await eventually('the leader takes a sign-up', async () => {
    const answers = [
      await ask(leader, '/auth/v1/signup', { body: ANN }),
      await ask(leader, '/auth/v1/token?grant_type=password', { body: ANN }),
    ];
    session = answers.find(({ status }) => status === 200)?.json.access_token ?? '';
    return session !== '';
  });
  return session;
}

const ANN = { email: 'ann@example.com', password: 'a long password' };
const LISTED = '/v1/instruments';

test('N132, N134: who signs up at the leader is let in by every node, until the key ends there', async (t) => {
  const cluster = await Cluster.start(t);
  const one = await cluster.node('one');
  const two = await cluster.node('two');
  const refused = await ask(two, '/auth/v1/signup', { body: ANN });
  t.is(refused.status, 503);
  t.is(refused.json.error_code ?? refused.json.error?.code, 'not_leader');

  const session = await sessionOfAnn(one);
  await eventually('the session is known everywhere', async () => {
    return (await ask(two, '/v1/me', { token: session })).status === 200;
  });
  const made = await ask(one, '/v1/api_keys', { token: session, body: { label: 'bot' } });
  t.is(made.status, 201, JSON.stringify(made.json));
  const { token } = made.json;
  await eventually('the key is known everywhere', async () => {
    return (await ask(two, LISTED, { token })).status === 200;
  });
  const atTwo = await ask(two, '/v1/api_keys', { token: session, body: { label: 'bot' } });
  t.is(atTwo.status, 503);
  t.like(atTwo.json.error, { code: 'not_leader', leader: 'https://one.example' });
  const ended = await ask(one, `/v1/api_keys/${made.json.key.id}`, {
    token: session,
    method: 'DELETE',
  });
  t.is(ended.status, 200, JSON.stringify(ended.json));
  t.is((await ask(two, LISTED, { token })).status, 401);

  // The next leader goes on.
  await one.paperbook.close();
  await eventually('the other node takes sign-ups', async () => {
    const body = { email: 'bob@example.com', password: 'a long password' };
    return (await ask(two, '/auth/v1/signup', { body })).status === 200;
  });
  t.is((await ask(two, '/auth/v1/signup', { body: ANN })).status, 422);
});

test('N137, N138: switches and numbers of the catalog are those of the leader on every node', async (t) => {
  const cluster = await Cluster.start(t);
  const one = await cluster.node('one');
  const two = await cluster.node('two');
  const set = (node: Node, on: boolean) => askAdmin(node, 'PUT', '/admin/trading', { on });
  const token = await sessionOfAnn(one);
  const isTrading = async (node: Node) =>
    (await ask(node, '/v1/api_keys', { token })).json.tradeWriteAvailable;
  await eventually('the session is known', async () => (await isTrading(two)) === true);
  t.is((await set(one, false)).status, 200);
  t.false(await isTrading(two));
  t.like((await set(two, true)).json.error, { code: 'not_leader' });
  t.is((await set(one, true)).status, 200);
  t.true(await isTrading(two));

  const names = ({ paperbook }: Node) => paperbook.identity.numbers()?.marketNames;
  const listed = async (node: Node) =>
    (await ask(node, LISTED, { token })).json.instruments.map(({ slug }: Json) => slug).sort();
  list(two, 3);
  list(one, 2);
  await eventually('both list what the leader has numbered', async () => {
    return [await listed(one), await listed(two)].every((slugs) => slugs.length === 2);
  });
  t.deepEqual(await listed(two), ['i1', 'i2'], 'the third has no number');
  t.deepEqual(names(one), names(two));
  await one.paperbook.close();
  await eventually('the next leader numbers what it has', async () => {
    return (await listed(two)).length === 3;
  });
  t.deepEqual(names(two), ['venue_a/I1', 'venue_a/I2', 'venue_a/I3']);
});

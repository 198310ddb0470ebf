/** What routes of the records show of people who are private, or go private while an answer is made. */
import test, { type ExecutionContext } from 'ava';
import { newUser, type User } from '../../../../api/identity/users.ts';
import { randomWorld, writeLogs } from '../../../engine/records/random-facts.ts';
import { type Api, startApi } from '../../support.ts';

type Asked = (name: string) => void | Promise<void>;

/** Everyone is public except the first; `asked` runs after each question to the records. */
async function withTraders(t: ExecutionContext) {
  const world = randomWorld(3, 500);
  const api = await startApi(t);
  const users: User[] = [];
  for (const [at, { id }] of world.accounts.entries()) {
    const user = {
      ...newUser({ email: `t${at}@example.com`, displayName: `Trader ${at}`, plan: 'basic' }, 1),
      ...{ id, private: at === 0, showEarlierTrades: true },
    };
    await api.store.addUser(user);
    users.push(user);
  }
  writeLogs(api.dataDir, world, 1);
  const { records } = api.context;
  const { ask } = records;
  const onAsked = (asked: Asked) => {
    records.ask = async (asker, name, question) => {
      const answer = await ask.call(records, asker, name, question);
      await asked(name);
      return answer as never;
    };
  };
  return { api, users, onAsked };
}

const get = (api: Api, path: string) => api.call('GET', path);

test('Y74: the records are not asked about a private trader, as not about who does not exist', async (t) => {
  const { api, users, onAsked } = await withTraders(t);
  const asked: string[] = [];
  onAsked((name) => {
    asked.push(name);
  });
  const [hidden, shown] = users;
  const nobody = '0195d3a0-0000-7000-8000-0000000000ff';
  for (const route of ['', '/picks', '/track-record']) {
    for (const ref of [hidden!.id, 'Trader%200', nobody]) await get(api, `/traders/${ref}${route}`);
    t.deepEqual(asked, [], route);
    await get(api, `/traders/${shown!.id}${route}`);
    t.not(asked.length, 0);
    asked.length = 0;
  }
  const track = (id: string) => get(api, `/traders/${id}/track-record`);
  const [ofHidden, ofNobody] = [await track(hidden!.id), await track(nobody)];
  t.is(ofHidden.status, 404);
  t.is(ofHidden.text, ofNobody.text);
});

for (const board of ['/leaderboard?window=all&limit=2', '/eval?window=all&limit=2']) {
  test(`Y74: who goes private while a page is made is in no row and no cursor: ${board}`, async (t) => {
    const { api, onAsked } = await withTraders(t);
    const before = (await get(api, board)).json;
    const { traderId } = before.rows[1];
    let asked = 0;
    onAsked(async () => {
      asked++;
      // After the first answer of the records, which still has them.
      if (asked === 1) await api.store.changeUser(traderId, { private: true });
    });
    const { json, text } = await get(api, board);
    t.is(asked, 2);
    t.is(json.rows.length, 2);
    t.is(json.rows[0].traderId, before.rows[0].traderId);
    t.false(text.includes(traderId));
    const cursor = (page: { nextCursor: string }) =>
      Buffer.from(page.nextCursor, 'base64url').toString();
    t.true(cursor(before).includes(traderId));
    t.false(cursor(json).includes(traderId));
  });
}

test('Y76: what is hidden while picks are listed is in no answer and no cursor', async (t) => {
  const { api, users, onAsked } = await withTraders(t);
  const answers = [];
  for (const { id } of users) {
    const path = `/traders/${id}/picks?limit=100`;
    const before = (await get(api, path)).json.picks;
    onAsked(async (name) => {
      if (name === 'picks') await api.store.changeUser(id, { showEarlierTrades: false });
    });
    await api.store.changeUser(id, { showEarlierTrades: true });
    const after = (await get(api, path)).json.picks;
    onAsked(() => {});
    t.deepEqual((await get(api, path)).json.picks, after);
    answers.push(before.length - after.length);
  }
  t.true(answers.some((hidden) => hidden > 0));
});

test('Y74: where the records go on to show somebody who is private, boards are 503', async (t) => {
  const { api } = await withTraders(t);
  const { json } = await get(api, '/leaderboard?window=all');
  const { traderId } = json.rows[0];
  const { get: found } = api.store.users;
  api.store.users.get = (id) => {
    const user = found.call(api.store.users, id);
    return user?.id === traderId ? { ...user!, private: true } : user;
  };
  const answer = await get(api, '/leaderboard?window=all');
  t.is(answer.status, 503);
  t.is(answer.json.error.code, 'internal_error');
});

import test from 'ava';
import { ok } from '../../fake-engine.ts';
import { IDS, NOW_MS, sampleQuote } from '../../samples.ts';
import { type Json, startApi } from '../../support.ts';

const NOW = new Date(NOW_MS).toISOString();

test('A50: quotes in the order asked, each id once', async (t) => {
  const api = await startApi(t);
  const ids = [IDS.bears, 'ins_000000000000', IDS.lions, IDS.bears, 'nonsense'];
  const { json, status } = await api.call('GET', `/quotes?ids=${ids.join(',')}`);
  t.is(status, 200);
  t.deepEqual(
    json.quotes.map(({ instrumentId }: Json) => instrumentId),
    [IDS.bears, IDS.lions],
  );
  t.deepEqual(json.notFound, ['ins_000000000000', 'nonsense']);
  t.like(json, { crossVenue: true, asOf: NOW, mode: 'paper' });
  t.deepEqual(api.engine.quoted, [IDS.bears, 'ins_000000000000', IDS.lions], 'no malformed id');
});

test('A53: crossVenue is the quotes` own, not a label`s', async (t) => {
  const api = await startApi(t);
  t.false((await api.call('GET', `/quotes?ids=${IDS.bears}`)).json.crossVenue);
  t.false((await api.call('GET', `/instruments/${IDS.bears}/quote`)).json.crossVenue);
  t.true((await api.call('GET', `/instruments/${IDS.lions}/quote`)).json.crossVenue);
});

test('A50, quote ids per request: 1 to 20', async (t) => {
  const api = await startApi(t);
  const ids = Array.from({ length: 21 }, (_, i) => `ins_${String(i).padStart(12, '0')}`);
  const twenty = await api.call('GET', `/quotes?ids=${ids.slice(0, 20).join(',')}`);
  t.is(twenty.status, 200);
  t.is(twenty.json.notFound.length, 20);
  const twice = await api.call('GET', `/quotes?ids=${[...ids.slice(0, 20), ids[0]].join(',')}`);
  t.is(twice.status, 200, 'a duplicate counts once');
  const messages = {
    [ids.join(',')]: 'ids must have at most 20 ids',
    '': 'ids must not be empty',
    ',': 'ids must not have an empty id',
    [`${ids[0]},`]: 'ids must not have an empty id',
  };
  for (const [asked, message] of Object.entries(messages)) {
    const answer = await api.call('GET', `/quotes?ids=${asked}`);
    t.is(answer.status, 400, asked);
    t.is(answer.json.error.message, message);
  }
});

test('A50: the quote of one instrument, by id or slug', async (t) => {
  const api = await startApi(t);
  for (const ref of [IDS.bears, 'bears-lions-moneyline-bears']) {
    const { json } = await api.call('GET', `/instruments/${ref}/quote`);
    t.is(json.quote.instrumentId, IDS.bears);
    t.like(json, { asOf: NOW, mode: 'paper' });
  }
  t.deepEqual(api.engine.quoted, [IDS.bears, IDS.bears]);
  api.engine.replyQuote = async () => {
    return { ok: false, code: 'instrument_not_found', message: 'No such instrument.' };
  };
  const dropped = await api.call('GET', `/instruments/${IDS.bears}/quote`);
  t.is(dropped.status, 404);
});

test('V2, venue_data_off: quotes are refused while the switch is off', async (t) => {
  const api = await startApi(t);
  await api.switches.set('venueData', false);
  for (const path of [`/quotes?ids=${IDS.bears}`, `/instruments/${IDS.bears}/quote`]) {
    const answer = await api.call('GET', path);
    t.is(answer.status, 403);
    t.is(answer.json.error.code, 'venue_data_off');
  }
  t.is((await api.call('GET', '/quotes?ids=')).status, 400, 'the query comes first');
  t.deepEqual(api.engine.quoted, []);
});

test('a refusal other than not found refuses the whole quotes request', async (t) => {
  const api = await startApi(t);
  api.engine.replyQuote = async (id) => {
    if (id === IDS.lions) return ok(sampleQuote(id));
    return { ok: false, code: 'invalid_request', message: 'No.' };
  };
  const answer = await api.call('GET', `/quotes?ids=${IDS.lions},${IDS.bears}`);
  t.is(answer.status, 400);
});

import test from 'ava';
import { IDS, NOW_MS } from '../../samples.ts';
import { startApi } from '../../support.ts';

const asOf = new Date(NOW_MS).toISOString();

test('A84: a book by id or slug, with the time of the engine', async (t) => {
  const api = await startApi(t);
  const levels = { yesBids: [[40, 100]], yesAsks: [[43, 100]] };
  const expected = { instrumentId: IDS.lions, venue: 'venue_a', ...levels, asOf, mode: 'paper' };
  for (const ref of [IDS.lions, 'bears-lions-moneyline-lions']) {
    const { status, json } = await api.call('GET', `/instruments/${ref}/book`);
    t.is(status, 200);
    t.deepEqual(json, expected);
  }
  t.like(await api.call('GET', '/instruments/nobody/book'), { status: 404 });
});

test('V2, A84: while venue data is off there is none', async (t) => {
  const api = await startApi(t);
  await api.switches.set('venueData', false);
  const { status, json } = await api.call('GET', `/instruments/${IDS.lions}/book`);
  t.is(`${status} ${json.error.code}`, '403 venue_data_off');
});

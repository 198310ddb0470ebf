/** How many questions to a service are open at once. */
import test from 'ava';
import { Forwarding } from '../../../api/read-side/forwarding.ts';

const SERVICE = { name: 'history', url: 'http://127.0.0.1:1', token: null, withinMs: 60_000 };
const SILENT = { info() {}, warn() {}, error() {} };

test('H21: a question that has ended, even badly, leaves its place to another one', async (t) => {
  const forwarding = new Forwarding({ ...SERVICE, openMax: 1, log: SILENT });
  const ask = (run: () => Promise<string>) =>
    forwarding.bounded(async (timer) => {
      timer.stop();
      return await run();
    });
  t.is(await ask(async () => 'first'), 'first');
  await t.throwsAsync(
    ask(() => Promise.reject(new Error('no answer'))),
    {
      message: /^The history service cannot be asked now/,
    },
  );
  const { promise, resolve } = Promise.withResolvers<string>();
  const open = ask(() => promise);
  await t.throwsAsync(
    ask(async () => 'too many'),
    { message: /cannot be asked now/ },
  );
  resolve('last');
  t.is(await open, 'last');
});

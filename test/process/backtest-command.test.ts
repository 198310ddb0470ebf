/** `paperbook backtest` at a server in this process. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type { EmbeddedBacktest } from '../../api/read-side/backtest-source.ts';
import { BACKTEST_EXAMPLE } from '../../api/schemas/backtest.ts';
import { tempDir } from './server.ts';
import { startTrader } from './trader-commands.ts';

test.serial('U17: a file is sent as the body, and the answer is shown', async (t) => {
  const backtest: EmbeddedBacktest = {
    kind: 'embedded',
    // The task is made all the same, so that the body is read.
    pool: { run: async (_, prepare) => prepare().then(() => JSON.stringify(BACKTEST_EXAMPLE)) },
    directory: '/nowhere',
    stored: async () => [],
  };
  const { command, json, fails } = await startTrader(t, { backtest });
  const file = path.join(tempDir(t), 'rule.json');
  writeFileSync(file, '{"markets":{},"rule":{"side":"yes"},"stake":{"contracts":1}}');
  t.deepEqual(await json('backtest', file), BACKTEST_EXAMPLE);
  const { stdout, code } = await command('backtest', file);
  t.is(code, 0);
  t.regex(stdout, /^Profit or loss +\$66\.40$/m);
  t.regex(stdout, /^Skipped +not_settled 1, out_of_band 1$/m);
  t.regex(stdout, /Herons to beat Otters +yes +166 +60 +100 .* won +\$66\.40$/m);

  t.notRegex(stdout, /queues/);
  const queue = '{"markets":{},"rule":{"side":"yes"},"stake":{"contracts":1},"fillModel":"queue"}';
  writeFileSync(file, queue);
  t.regex((await command('backtest', file)).stdout, /\nThe history has no queues, and nothing /);

  writeFileSync(file, '{"markets":{},"rule":{"side":"most"},"stake":{"contracts":1}}');
  t.regex(await fails('backtest', file), /rule\.side must be one of/);
  writeFileSync(file, '{');
  t.regex(await fails('backtest', file), /rule\.json is not JSON/);
  t.regex(await fails('backtest', `${file}.none`), /\.none cannot be read \(ENOENT\)$/m);
});

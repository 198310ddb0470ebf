/** How near the `queue` model comes to the market on a recorded window of Kalshi. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { Fidelity } from '../../../api/fidelity/fidelity.ts';
import { feedFileOf } from '../../../bench/suites/fidelity.ts';
import { sharedData } from '../../feeds/golden.ts';
import { runHere } from '../../process/run-here.ts';
import { tempDir } from '../../process/server.ts';

const gold = sharedData('kalshi-ws-window');
const WINDOW = 'KXGOLD15M-26AUG050000-00.ndjson.gz';
const POINTS = 0.015;
const CENTS = 0.1;

const windowTest = gold.present ? test : test.skip;

windowTest(
  'X14: queue fills within 1.5 points and 0.1 cents of the market, for each size and place',
  async (t) => {
    const recorded = fileURLToPath(new URL(WINDOW, gold.dir));
    const file = await feedFileOf(recorded, path.join(tempDir(t), 'window.jsonl'));
    const exit = await runHere(['fidelity', file, '--json']);
    t.is(exit.code, 0, exit.stderr);
    const { fillRates, markouts }: Fidelity = JSON.parse(exit.stdout);
    t.is(fillRates.length, 24);
    for (const { place, withinMs, contracts, queue, top_of_book: top } of fillRates) {
      t.true(Math.abs(queue.gap) <= POINTS, `${place} ${withinMs} ${contracts}: ${queue.gap}`);
      if (contracts === 1) t.true(top.gap < -5 * POINTS, 'nothing else comes near');
    }
    for (const { afterMs, market, queue } of markouts) {
      t.true(Math.abs(queue! - market!) <= CENTS, `after ${afterMs}: ${queue}, not ${market}`);
    }
  },
);

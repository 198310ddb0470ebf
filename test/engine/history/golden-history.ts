/**
 * `node test/engine/history/golden-history.ts DIRECTORY` writes a small history with all files of a
 * version of the format. test/golden/history-2 was made this way, and is never made again.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { packBlock } from '../../../engine/history/block-format.ts';
import { Recorder } from '../../../engine/history/recorder.ts';
import { quoteTick } from '../fixtures.ts';
import { after, asked, take } from './support.ts';

/** A block of marks, whose bytes are pinned, except the output of zstd. */
export const MARKS_BLOCK = {
  head: { kind: 2, market: 7, first: 512, records: 4, firstMs: after(0), lastMs: after(9000) },
  columns: [
    [after(0), after(10), after(5000), after(9000)],
    [1, 0, 4, 0],
  ],
};

/** 600 quotes, two losses and a print, over a stop. */
export function goldenHistory(directory: string): void {
  const open = () => new Recorder({ directory, quoteMaxAgeMs: 15_000, days: 0 });
  const first = open();
  for (let i = 0; i < 600; i++) {
    const over = { yesBidCents: 30 + (i % 9), yesBidContracts: 100 + ((i * 37) % 400) };
    take(first, quoteTick({ atMs: after(i * 700), ...over }));
  }
  const print = { kind: 'trade', source: 0, market: 0, contracts: 12, side: 'no' } as const;
  take(first, { ...print, atMs: after(420_000), yesPriceCents: 41 });
  take(first, { kind: 'down', atMs: after(421_000), source: 0 });
  first.close();
  const second = open();
  take(second, quoteTick({ atMs: after(500_000), yesBidCents: 44, yesAskCents: 47 }));
  // As a crash leaves it: with records since the journal's last rewrite.
  second.flush();
  second.store.abandon();
}

/** Its answers, by the name of a file. */
export function goldenAnswers(directory: string): Record<string, string> {
  const recorder = new Recorder({ directory, quoteMaxAgeMs: 15_000, days: 0 });
  const nowMs = after(510_000);
  const answers = {
    'quotes.csv': asked(recorder).exported({ nowMs, toMs: nowMs }),
    'trades.csv': asked(recorder).exported({ nowMs, dataset: 'trades' }),
    'candles.csv': asked(recorder).exported({ nowMs, dataset: 'candles', toMs: nowMs }),
    'gaps.json': JSON.stringify(asked(recorder).quotes({ nowMs, toMs: nowMs }).gaps),
  };
  recorder.close();
  return answers;
}

const [, script, directory] = process.argv;
if (script?.endsWith('golden-history.ts') && directory !== undefined) {
  goldenHistory(directory);
  const block = packBlock(MARKS_BLOCK.head, MARKS_BLOCK.columns).subarray(8, 41);
  writeFileSync(path.join(directory, 'head.hex'), `${block.toString('hex')}\n`);
  for (const [name, text] of Object.entries(goldenAnswers(directory))) {
    writeFileSync(path.join(directory, name), text);
  }
}

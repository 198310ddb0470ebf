import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';
import test from 'ava';
import {
  BLOCK_HEADER_BYTES,
  FILE_HEADER_BYTES,
  fileHeader,
  packBlock,
} from '../../../engine/history/block-format.ts';
import { HISTORY_VERSION } from '../../../engine/history/kinds.ts';
import { packColumns } from '../../../engine/history/record-columns.ts';
import { goldenAnswers, MARKS_BLOCK } from './golden-history.ts';
import { temporary } from './support.ts';

const GOLDEN = fileURLToPath(new URL(`../../golden/history-${HISTORY_VERSION}/`, import.meta.url));
const golden = (name: string) => readFileSync(path.join(GOLDEN, name));

test('D50, D51: files of this version are read as they were meant', (t) => {
  const directory = path.join(temporary(t), 'history');
  mkdirSync(directory);
  for (const name of ['00000001.blocks', 'journal', 'manifest.json']) {
    copyFileSync(path.join(GOLDEN, name), path.join(directory, name));
  }
  for (const [name, text] of Object.entries(goldenAnswers(directory))) {
    t.is(text, golden(name).toString(), name);
  }
});

test('D51: the header of a file has the magic, the version and the fingerprint that it had', (t) => {
  const header = fileHeader();
  for (const name of ['00000001.blocks', 'journal']) {
    t.deepEqual(header, golden(name).subarray(0, FILE_HEADER_BYTES), name);
  }
});

test('D50: the bytes of a block are the bytes of its version', (t) => {
  const { head, columns } = MARKS_BLOCK;
  const block = packBlock(head, columns);
  // After the checksums and the size, which depend on the version of zstd.
  t.is(
    block.subarray(12, BLOCK_HEADER_BYTES).toString('hex'),
    golden('head.hex').toString().trim().slice(8),
  );
  const bytes = zstdDecompressSync(block.subarray(BLOCK_HEADER_BYTES));
  t.deepEqual(bytes, Buffer.from(packColumns(columns)));
  // 2026-11-21T12:00, then 10, 4,990 and 4,000 ms later; marks 1, 0, 4, 0.
  t.is(
    bytes.toString('hex'),
    '8098d2dfbf68' + '01' + '14' + 'fc4d' + 'c03e' + '02' + '01' + '010807',
  );
});

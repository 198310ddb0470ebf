/** JSON from outside that is nested deeper than any that is meant, and files larger than any. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import { readOrdersFile } from '../../../api/cli/orders-file.ts';
import {
  boundedText,
  JSON_DEPTH_MAX,
  NestedTooDeep,
  parseJson,
  readProblem,
  SHORT_TEXT,
} from '../../../engine/base/bounded-json.ts';
import { parseCatalog } from '../../../feeds/catalog/catalog.ts';
import { askRest } from '../../../feeds/connection/rest.ts';
import { readLine } from '../../../feeds/file/feed-line.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import { restPages } from '../../../feeds/venues/discovery-rest.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';
import { json, restServer } from '../../feeds/rest-server.ts';

const nested = (depth: number, inside = '') => '['.repeat(depth) + inside + ']'.repeat(depth);
/** Ten megabytes of it: what recurses over it overflows any stack. */
const DEEP = nested(5_000_000);
const PADDING = ' '.repeat(SHORT_TEXT);

test('A99: a text is nested a hundred deep, and no deeper', (t) => {
  t.notThrows(() => parseJson(nested(JSON_DEPTH_MAX) + PADDING));
  t.throws(() => parseJson(nested(JSON_DEPTH_MAX + 1) + PADDING), {
    instanceOf: NestedTooDeep,
    message: 'is nested more than 100 deep',
  });
  const objects = `${'{"a":['.repeat(60)}${']}'.repeat(60)}${PADDING}`;
  t.throws(() => parseJson(objects), { instanceOf: NestedTooDeep });
  t.throws(() => parseJson(DEEP), { instanceOf: NestedTooDeep });
  // As deep as a short text can be, nothing overflows.
  t.notThrows(() => parseJson(nested(SHORT_TEXT / 2)));
  // Side by side is not nested, and a bracket in a string opens nothing.
  t.notThrows(() => parseJson(`[${Array(2000).fill('[{}]').join()}]`));
  t.notThrows(() => parseJson(JSON.stringify({ text: '[{"\\'.repeat(2000) })));
  t.throws(() => parseJson(`{"a\\\\":${nested(200)}}${PADDING}`), { instanceOf: NestedTooDeep });
  t.throws(() => parseJson(`${PADDING}"[[[`), { instanceOf: SyntaxError });
});

test('A99: what is within the bound is read as JSON.parse reads it', (t) => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      t.deepEqual(parseJson(text + PADDING), JSON.parse(text));
    }),
    { numRuns: 30 },
  );
});

test('A99: a frame, a line of a feed file and a catalog that are nested too deep are refused', (t) => {
  const ingest = createIngest({ marketNumber: () => 0, sink: () => {}, log: () => {} });
  const connection = ingest.session('venue_b', nativeAdapter(), 0);
  const reading = connection.frame(`{"type":"game","game":${DEEP}}`, 1);
  t.is(reading.rejected, 'nested too deep');
  t.is(readLine(2, `{"at":"2026-07-12T12:00:00Z","venue":${DEEP}}`), 'nested too deep');
  t.deepEqual(parseCatalog(`{"games":${DEEP},"instruments":[]}`), {
    ok: false,
    errors: [{ place: 'file', message: 'is nested more than 100 deep' }],
  });
});

test('A99: an answer of a REST API that is nested too deep is an error that names the address', async (t) => {
  const { url } = await restServer(t, () => json(`{"markets":${DEEP},"cursor":""}`));
  const expected = { message: /^http:\/\/127.*: the answer is nested more than 100 deep$/ };
  await t.throwsAsync(askRest(new URL(`${url}/markets/A`)), expected);
  await t.throwsAsync(restPages(`${url}/trade-api/v2`).next(), expected);
});

test('A99: a line of orders that is nested too deep, or has no end, is named', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-orders-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'orders.jsonl');
  const problemOf = async (text: string) => {
    writeFileSync(file, text);
    const lines = readOrdersFile(file);
    return (await t.throwsAsync(async () => {
      while ((await lines.next()).done !== true);
    }))!.message;
  };
  t.is(await problemOf(`\n{"order":${DEEP}}`), `${file} line 2: nested too deep`);
  t.is(await problemOf('x'.repeat(17 * 2 ** 20)), `${file} line 1: longer than 16 MiB`);
  t.is(
    await problemOf('\uFEFF{"order":1}'),
    await problemOf('{"order":1}'),
    'G15: without its mark',
  );
});

test('A99: what is larger than any file that is meant is not read into memory', async (t) => {
  let given = 0;
  const endless = new Readable({
    read() {
      given += 65_536;
      this.push(Buffer.alloc(65_536, 0x20));
    },
  });
  await t.throwsAsync(boundedText(endless, 2 ** 20), { message: 'has more than 1 MiB' });
  t.true(given < 2 ** 21, `${given} bytes were taken`);
  await t.throwsAsync(boundedText('/dev/zero', 2 ** 20), { message: 'has more than 1 MiB' });
});

test('A99, G15: a packed file is called what it is, and so is another encoding; a mark is skipped', async (t) => {
  const read = (...pieces: Buffer[]) => boundedText(Readable.from(pieces));
  const problemOf = async (...pieces: Buffer[]) =>
    readProblem(await t.throwsAsync(read(...pieces)));
  t.is(await problemOf(gzipSync('{}')), 'is gzip: unpack it');
  const mark = Buffer.from('\uFEFF');
  t.is(
    await read(mark.subarray(0, 1), mark.subarray(1), Buffer.from('{"é":1}\r\n')),
    '{"é":1}\r\n',
  );
  for (const encoding of ['latin1', 'utf16le'] as const) {
    const other = Buffer.from('\uFEFF{"é":1}'.slice(encoding === 'latin1' ? 1 : 0), encoding);
    t.is(await problemOf(other), 'is not UTF-8: save it in that encoding');
  }
});

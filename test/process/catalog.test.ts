import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import test from 'ava';
import { schemaErrors } from '../../feeds/catalog/catalog-schema.ts';
import { kalshiMarket, shared, usMarket } from '../feeds/discovered.ts';
import { json, restServer } from '../feeds/rest-server.ts';
import { catalogOf, game, instrument } from './catalogs.ts';
import { runHere } from './run-here.ts';
import { run, tempDir } from './server.ts';

const restTest = existsSync(shared('kalshi-rest')) ? test.serial : test.serial.skip;
const mlb = shared('mlb-2026-07-12/catalog.json');
const mlbTest = existsSync(mlb) ? test.serial : test.serial.skip;

restTest(
  'K20: discover takes a folder of recorded answers, and check accepts what it prints',
  async (t) => {
    const folder = shared('kalshi-rest');
    const answers = readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => path.join(folder, name));
    const { code, stdout, stderr } = await run([
      ...['catalog', 'discover', '--venue', 'venue_a', '--from'],
      ...answers,
    ]);
    t.is(code, 0, stderr);
    t.regex(stderr, /orderbook_response.json: no market, passed over/);
    t.regex(
      stderr,
      /6 markets left out: a combo; --combos takes them\n0 games, 1 instruments, 5 lines of fees\n$/,
    );
    const file = path.join(tempDir(t), 'catalog.json');
    writeFileSync(file, stdout);
    const check = await runHere(['catalog', 'check', file]);
    t.is(check.stdout, '0 games and 1 instruments, no errors\n');
  },
);

test.serial('K20, K21, K28: from nothing to a catalog of two venues', async (t) => {
  const catalog = path.join(tempDir(t), 'catalog.json');
  const found = path.join(tempDir(t), 'found.json');
  const teams = ['MIL', 'PIT'].map((team) => kalshiMarket(`KXMLBGAME-26JUL101840MILPIT-${team}`));
  const kalshi = await restServer(t, () => json({ markets: teams, cursor: '' }));
  const first = await runHere([
    ...['catalog', 'discover', '--venue', 'venue_a', '--url', `${kalshi.url}/trade-api/v2`],
  ]);
  t.is(first.code, 0, first.stderr);
  writeFileSync(found, first.stdout);
  const imported = await runHere(['catalog', 'import', found, '--into', catalog]);
  t.is(imported.stdout, `${catalog}: 1 games and 2 instruments\n`);

  const start = { gameStartTime: '2026-07-10T22:40:00Z' };
  const us = usMarket('aec-mlb-mil-pit-2026-07-10', ['MIL', 'PIT'], start);
  const other = path.join(tempDir(t), 'us.json');
  writeFileSync(other, JSON.stringify({ market: us }));
  const both = await runHere([
    ...['catalog', 'discover', '--venue', 'venue_b', '--from', other, '--into', catalog],
  ]);
  t.is(both.code, 0, both.stderr);
  writeFileSync(found, both.stdout);
  const again = await runHere(['catalog', 'import', found, '--json'], {
    env: { PAPERBOOK_CATALOG: catalog },
  });
  t.deepEqual(JSON.parse(again.stdout), { games: 1, instruments: 2 });
  const { instruments } = JSON.parse(readFileSync(catalog, 'utf8'));
  t.deepEqual(
    instruments.map(({ listings }: { listings: { venue: string }[] }) =>
      listings.map(({ venue }) => venue),
    ),
    [
      ['venue_a', 'venue_b'],
      ['venue_a', 'venue_b'],
    ],
  );
});

test.serial('K41, K43: a list that ends in an error, and games that did not join', async (t) => {
  const legs = ['AAA', 'BBB'].map((team) => kalshiMarket(`KXFOOGAME-26JUL10AAABBB-${team}`));
  const venue = await restServer(t, (_url, count) => {
    return count === 1 ? json({ markets: legs, cursor: 'two' }) : json('{}', 400);
  });
  const discover = ['catalog', 'discover', '--venue'];
  const first = await runHere([...discover, 'venue_a', '--url', `${venue.url}/markets`]);
  t.is(first.code, 0, first.stderr);
  t.regex(first.stderr, /^incomplete: .*\/markets: answered 400; the markets before it are kept$/m);
  t.true(JSON.parse(first.stdout).incomplete);
  const [found, us, both] = ['found', 'us', 'both'].map((name) => path.join(tempDir(t), name));
  writeFileSync(found!, first.stdout);
  const market = usMarket('aec-fo2-aaa-bbb-2026-07-10', ['AAA', 'BBB']);
  writeFileSync(us!, JSON.stringify({ market }));
  const second = await runHere([...discover, 'venue_b', '--from', us!, '--into', found!]);
  const line = 'not joined: foo-aaa-bbb-2026-07-10 and fo2-aaa-bbb-2026-07-10';
  t.true(second.stderr.includes(line), second.stderr);
  t.false('incomplete' in JSON.parse(second.stdout));
  writeFileSync(both!, second.stdout);
  const check = await runHere(['catalog', 'check', both!]);
  t.is(check.stdout, `2 games and 4 instruments, no errors\n${line}\n`);
  const { notJoined } = JSON.parse((await runHere(['catalog', 'check', both!, '--json'])).stdout);
  t.deepEqual(notJoined, [['foo-aaa-bbb-2026-07-10', 'fo2-aaa-bbb-2026-07-10']]);
});

test.serial('K28: an import with an error changes nothing', async (t) => {
  const dir = tempDir(t);
  const catalog = path.join(dir, 'catalog.json');
  const before = catalogOf([game('g')], [instrument('i', 'g')]);
  writeFileSync(catalog, before);
  const added = path.join(dir, 'added.json');
  for (const text of ['{', catalogOf([], [instrument('j', 'none')])]) {
    writeFileSync(added, text);
    const { code, stderr } = await runHere(['catalog', 'import', added, '--into', catalog]);
    t.is(code, 1);
    t.regex(stderr, /added.json has errors:/);
  }
  t.is(readFileSync(catalog, 'utf8'), before);
  t.deepEqual(readdirSync(dir).sort(), ['added.json', 'catalog.json']);
});

test.serial('U1: bad usage of discover and import is exit code 2, failures are 1', async (t) => {
  const discover = ['catalog', 'discover', '--venue', 'venue_a'];
  const file = path.join(tempDir(t), 'x.json');
  writeFileSync(file, '{"markets":[]}');
  const cases: [args: string[], code: number, message: RegExp][] = [
    [discover, 2, /give either --from or --url/],
    [[...discover, '--from', file, '--url', 'http://x'], 2, /give either --from or --url/],
    [['catalog', 'discover', '--from', file], 2, /--venue/],
    [['catalog', 'discover', '--venue', 'venue_z', '--from', file], 2, /venue_z/],
    [['catalog', 'import', file], 2, /--into or PAPERBOOK_CATALOG/],
    [[...discover, '--from', file], 1, /no market in these answers/],
    [[...discover, '--from', `${file}.none`], 1, /cannot be read \(ENOENT\)/],
    [[...discover, '--url', 'http://127.0.0.1:1/markets'], 1, /127\.0\.0\.1:1\/markets: /],
  ];
  for (const [args, code, message] of cases) {
    const result = await runHere(args);
    t.is(result.code, code, `${args.join(' ')}\n${result.stderr}`);
    t.regex(result.stderr, message);
    t.is(result.stdout, '');
  }
});

async function printedSchema() {
  const { stdout } = await runHere(['catalog', 'schema']);
  const ajv = new Ajv2020({ allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(JSON.parse(stdout));
}

test.serial(
  'K12: the printed schema takes and refuses what the check of the form does',
  async (t) => {
    const isCatalog = await printedSchema();
    const good = JSON.parse(catalogOf([game('g')], [instrument('i', 'g')]));
    const [one] = good.instruments;
    const line = {
      venue: 'venue_a',
      from: '2026-07-07T04:00:00Z',
      schedule: 'kalshi',
      taker: '0.07',
    };
    const with_ = (fields: object) => ({ ...good, instruments: [{ ...one, ...fields }] });
    const files: [file: unknown, isGood: boolean][] = [
      [good, true],
      [with_({ opensAt: null, closesAt: null, strike: null, subject: null }), true],
      [with_({ strike: { type: 'between', floor: 1, cap: 2 } }), true],
      [with_({ strike: { type: 'near', floor: 1, cap: 2 } }), false],
      [with_({ closesAt: 'tomorrow' }), false],
      [with_({ label: null }), false],
      [with_({ labl: 'x' }), false],
      [{ ...good, fees: [line] }, true],
      [{ ...good, fees: [{ ...line, series: null, maker: '-0.0125', exponent: 2 }] }, true],
      [{ ...good, fees: [{ ...line, taker: 0.07 }] }, false],
      [{ ...good, fees: [{ ...line, taker: '7%' }] }, false],
      [[], false],
    ];
    for (const [file, isGood] of files) {
      t.is(isCatalog(file), isGood, JSON.stringify(file));
      t.is(schemaErrors(file).length === 0, isGood, JSON.stringify(file));
    }
  },
);

mlbTest('K12: the recorded catalog has the form of the printed schema', async (t) => {
  const isCatalog = await printedSchema();
  t.true(isCatalog(JSON.parse(readFileSync(mlb, 'utf8'))), JSON.stringify(isCatalog.errors));
});

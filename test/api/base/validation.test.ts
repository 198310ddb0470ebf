import test from 'ava';
import fc from 'fast-check';
import { NoQuery } from '../../../api/base/common-schemas.ts';
import { ApiError } from '../../../api/base/errors.ts';
import { repeatedKey } from '../../../api/base/repeated-keys.ts';
import { bodyReader, queryReader } from '../../../api/base/validation.ts';
import { readOrderBody } from '../../../api/operations/order-request.ts';
import { GamesQuery } from '../../../api/schemas/markets.ts';
import { OrderBodySchema } from '../../../api/schemas/order-body.ts';

/** True when `read` answers or refuses; whatever else it throws is our own fault. */
function answersOrRefuses(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_request') return true;
    throw error;
  }
}

test('whatever JSON an order body is, it is read or refused', (t) => {
  const fields = Object.keys(OrderBodySchema.properties);
  const value = fc.oneof(
    fc.constantFrom('buy', 'sell', 'market', 'limit', 'yes', 'k', 'ins_0000000000A1', 'gtc'),
    fc.integer(),
    fc.jsonValue(),
  );
  const body = fc.dictionary(fc.oneof(fc.constantFrom(...fields), fc.string()), value);
  t.notThrows(() =>
    fc.assert(fc.property(body, (order) => answersOrRefuses(() => readOrderBody(order)))),
  );
});

test('whatever text a body or a query is, it is read or refused', (t) => {
  const readBody = bodyReader(OrderBodySchema);
  const readQuery = queryReader(GamesQuery);
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.webQueryParameters(),
    fc.stringMatching(/^(limit|status|from|%|=|&|\+)*$/),
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(
        text,
        (sent) => answersOrRefuses(() => readBody(sent)) && answersOrRefuses(() => readQuery(sent)),
      ),
    ),
  );
});

/** Objects as they are written, so that a key can stand in one twice. */
type Written = { text: string; isRepeating: boolean };

const writtenKey = fc.constantFrom(
  '"a"',
  '"b"',
  '"c"',
  '"\\u0061"',
  '"a:\\""',
  '"\\\\"',
  '"__proto__"',
);
const { written } = fc.letrec<{ written: Written }>((tie) => {
  const plain = fc
    .oneof(fc.constantFrom('1', 'null', '"a:1"', '"{\\"a\\":"', '""'), fc.json({ maxDepth: 0 }))
    .map((text) => ({ text, isRepeating: false }));
  const list = fc.array(tie('written'), { maxLength: 3 }).map((items) => ({
    text: `[ ${items.map(({ text }) => text).join(',')}]`,
    isRepeating: items.some(({ isRepeating }) => isRepeating),
  }));
  const object = fc
    .array(fc.tuple(writtenKey, tie('written')), { maxLength: 4 })
    .map((members) => ({
      text: `{${members.map(([key, { text }]) => `${key} :${text}`).join(', ')}}`,
      isRepeating:
        members.some(([, { isRepeating }]) => isRepeating) ||
        new Set(members.map(([key]) => JSON.parse(key))).size < members.length,
    }));
  return { written: fc.oneof({ maxDepth: 4 }, plain, list, object) };
});

test('A8: whatever is around it, a key that occurs twice is found', (t) => {
  const seen = { repeating: 0, good: 0 };
  fc.assert(
    fc.property(written, ({ text, isRepeating }) => {
      const body = `{"x":${text}}`;
      seen[isRepeating ? 'repeating' : 'good']++;
      t.is(repeatedKey(body, JSON.parse(body)) !== null, isRepeating, body);
    }),
    { numRuns: 1000 },
  );
  t.true(seen.repeating > 50 && seen.good > 50, JSON.stringify(seen));
});

test('A8: keys in a body of any depth and length are looked at', (t) => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  t.is(repeatedKey(`${deep}}`, JSON.parse(`${deep}}`)), null);
  t.is(repeatedKey(`${deep},"a":1}`, JSON.parse(`${deep},"a":1}`)), 'a');
  const long = `{"a":"${'\\n:'.repeat(20_000)}"`;
  t.is(repeatedKey(`${long}}`, JSON.parse(`${long}}`)), null);
  t.is(repeatedKey(`${long},"a":1}`, JSON.parse(`${long},"a":1}`)), 'a');
});

test('A8: defaults stand where a parameter is left out', (t) => {
  const read = queryReader(GamesQuery);
  t.deepEqual(read(''), { limit: 50 });
  t.deepEqual(read('league=nfl'), { limit: 50, league: 'nfl' });
  t.deepEqual(read('limit=7'), { limit: 7 });
  t.deepEqual(queryReader(NoQuery)(''), {});
});

test('A8: names and values are percent-decoded, + is a blank', (t) => {
  const read = queryReader(GamesQuery);
  t.deepEqual(read('l%65ague=a%2Bb+c%3D%26'), { limit: 50, league: 'a+b c=&' });
  t.throws(() => read('l%65ague=a&league=b'), {
    message: 'query parameter "league" is given twice',
  });
  for (const name of ['__proto__', 'constructor', 'toString']) {
    t.throws(() => read(`${name}=1`), { message: `unknown query parameter "${name}"` });
  }
});

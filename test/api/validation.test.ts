import test from 'ava';
import fc from 'fast-check';
import { ApiError } from '../../api/errors.ts';
import { readOrderBody } from '../../api/order-request.ts';
import { NoQuery } from '../../api/schemas/common.ts';
import { GamesQuery } from '../../api/schemas/markets.ts';
import { OrderBodySchema } from '../../api/schemas/order-body.ts';
import { bodyReader, queryReader } from '../../api/validation.ts';

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
  fc.assert(fc.property(body, (order) => answersOrRefuses(() => readOrderBody(order))));
  t.pass();
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
  fc.assert(
    fc.property(
      text,
      (sent) => answersOrRefuses(() => readBody(sent)) && answersOrRefuses(() => readQuery(sent)),
    ),
  );
  t.pass();
});

test('CONTRACT.md section 1: defaults stand where a parameter is left out', (t) => {
  const read = queryReader(GamesQuery);
  t.deepEqual(read(''), { limit: 50 });
  t.deepEqual(read('league=nfl'), { limit: 50, league: 'nfl' });
  t.deepEqual(read('limit=7'), { limit: 7 });
  t.deepEqual(queryReader(NoQuery)(''), {});
});

test('CONTRACT.md section 1: names and values are percent-decoded, + is a blank', (t) => {
  const read = queryReader(GamesQuery);
  t.deepEqual(read('l%65ague=a%2Bb+c%3D%26'), { limit: 50, league: 'a+b c=&' });
  t.throws(() => read('l%65ague=a&league=b'), {
    message: 'query parameter "league" is given twice',
  });
  for (const name of ['__proto__', 'constructor', 'toString']) {
    t.throws(() => read(`${name}=1`), { message: `unknown query parameter "${name}"` });
  }
});

import test from 'ava';
import { canonicalJson } from '../../../../engine/records/track-record/canonical.ts';

test('Z11: the example of RFC 8785, section 3.2.2', (t) => {
  const value = {
    numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '€$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  };
  t.is(
    canonicalJson(value),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test('Z11: keys are in the order of their UTF-16 units (RFC 8785, section 3.2.3)', (t) => {
  const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
  const value = Object.fromEntries(keys.map((key) => [key, 0]));
  const sorted = Object.keys(JSON.parse(canonicalJson(value)));
  // An object lists the key `1` first.
  t.deepEqual(sorted, ['1', '\r', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']);
});

test('Z11: what has no one form is refused, never written as null', (t) => {
  t.throws(() => canonicalJson({ a: Number.NaN }), { message: /NaN/ });
  t.throws(() => canonicalJson({ a: Number.POSITIVE_INFINITY }), { message: /Infinity/ });
  t.throws(() => canonicalJson({ a: '\ud800' }), { message: /surrogate/ });
  t.throws(() => canonicalJson({ '\udc00': 1 }), { message: /surrogate/ });
});

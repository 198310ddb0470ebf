/** A change of anything that lies on disk is a new version of the format. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import {
  CONTROL_FINGERPRINT,
  EARLIER_CONTROL_FINGERPRINTS,
  isOurFormat,
} from '../../../../api/identity/control-format.ts';
import { FORMAT_VERSION } from '../../../../engine/format/version.ts';
import { readSegmentHeader, segmentHeaderBytes } from '../../../../engine/log/log-format.ts';
import {
  checkpointReader,
  headValue,
  nextPage,
} from '../../../../engine/shard/store/checkpoint-values.ts';
import { ValueDamage } from '../../../../engine/shard/store/checksummed.ts';
import {
  EARLIER_FINGERPRINTS,
  FINGERPRINT,
  identityOf,
} from '../../../../engine/shard/store/data-format.ts';

type Versions = Record<
  string,
  { fingerprint: number; earlier: number[]; control: number; earlierControl: number[] }
>;

const GOLDEN = new URL('../../../golden/format/versions.json', import.meta.url);

test('D23: each version of the format has the layouts that it always had', (t) => {
  const versions = JSON.parse(readFileSync(GOLDEN, 'utf8')) as Versions;
  const changed = 'a layout has changed: raise FORMAT_VERSION, and note its fingerprint';
  t.is(versions[FORMAT_VERSION]?.fingerprint, FINGERPRINT, changed);
  t.is(versions[FORMAT_VERSION]?.control, CONTROL_FINGERPRINT, changed);
  const newest = Math.max(...Object.keys(versions).map(Number));
  t.is(newest, FORMAT_VERSION, 'no version goes back');
  const known = Object.values(versions).map(({ fingerprint }) => fingerprint);
  t.is(new Set(known).size, known.length, 'another version has other layouts');
  t.deepEqual(identityOf(3), {
    ...{ shard: 3, formatVersion: FORMAT_VERSION, fingerprint: FINGERPRINT },
    earlierFingerprints: EARLIER_FINGERPRINTS,
  });
});

test('D87: what was written before kinds of facts were added is read, and no other layout is', (t) => {
  const versions = JSON.parse(readFileSync(GOLDEN, 'utf8')) as Versions;
  t.deepEqual([...EARLIER_FINGERPRINTS], versions[FORMAT_VERSION]!.earlier);
  const identity = identityOf(0);
  const formatOf = (fingerprint: number) => {
    const value = headValue({ shard: 0, formatVersion: FORMAT_VERSION, fingerprint });
    return checkpointReader({ heads: { get: () => value } as never, pages: {} as never });
  };
  t.true(formatOf(FINGERPRINT).checkFormat(identity));
  // It is noted again, so that an earlier program refuses the directory.
  for (const earlier of EARLIER_FINGERPRINTS) t.false(formatOf(earlier).checkFormat(identity));
  t.throws(() => formatOf(7).checkFormat(identity), { message: /has other layouts than version/ });
  const header = (fingerprint: number) => {
    const of = { segment: 0, segmentBytes: 4096, firstNumber: 1, landmark: 0 };
    const bytes = segmentHeaderBytes({
      shard: 0,
      formatVersion: FORMAT_VERSION,
      fingerprint,
      ...of,
    });
    return () => readSegmentHeader(bytes, 'facts.log', 0, identity);
  };
  for (const known of [FINGERPRINT, ...EARLIER_FINGERPRINTS]) t.notThrows(header(known));
  t.throws(header(7), { message: /has other layouts than version/ });
});

test('D95: a control store of before tables were added is read, and no other layout is', (t) => {
  const versions = JSON.parse(readFileSync(GOLDEN, 'utf8')) as Versions;
  const { earlierControl } = versions[FORMAT_VERSION]!;
  t.deepEqual([...EARLIER_CONTROL_FINGERPRINTS], earlierControl);
  const formatOf = (fingerprint: number) => ({ formatVersion: FORMAT_VERSION, fingerprint });
  t.true(isOurFormat('control', formatOf(CONTROL_FINGERPRINT)));
  for (const earlier of earlierControl) t.false(isOurFormat('control', formatOf(earlier)));
  t.throws(() => isOurFormat('control', formatOf(7)), { message: /has other layouts/ });
});

test('D24: a value of a checkpoint in which one bit is another is named and not used', (t) => {
  const written = [{ checkpoint: 1, pages: { orders: 1 } }];
  const takeRows = (words: Uint32Array, at: number) => {
    words[at] = 77;
    return at + 1;
  };
  const values = {
    head: headValue({ written }),
    page: nextPage({ name: 'orders', takeRows }, 1, 0)!,
  };
  const read = (changed: Partial<typeof values>) => {
    const { head, page } = { ...values, ...changed };
    const reader = checkpointReader({
      heads: { get: () => head } as never,
      pages: { get: () => page } as never,
    });
    return [...reader.readRows('orders', reader.readWritten())].map((rows) => [...rows]);
  };
  t.deepEqual(read({}), [[77]]);
  const names = { head: 'heads [head]', page: 'pages [orders, 1, 0]' };
  for (const part of ['head', 'page'] as const) {
    for (let bit = 0; bit < 8 * values[part].length; bit++) {
      const value = Buffer.from(values[part]);
      value[bit >> 3]! ^= 1 << (bit & 7);
      t.throws(() => read({ [part]: value }), {
        instanceOf: ValueDamage,
        message: `data.mdb is damaged: ${names[part]} has changed since it was written`,
      });
    }
  }
});

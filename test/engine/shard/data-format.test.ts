/** A change of anything that lies on disk is a new version of the format. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { CONTROL_FINGERPRINT } from '../../../api/identity/control-format.ts';
import { FORMAT_VERSION } from '../../../engine/format/version.ts';
import { FINGERPRINT, identityOf } from '../../../engine/shard/data-format.ts';

type Versions = Record<string, { fingerprint: number; control: number }>;

const GOLDEN = new URL('../../golden/format/versions.json', import.meta.url);

test('D23: each version of the format has the layouts that it always had', (t) => {
  const versions = JSON.parse(readFileSync(GOLDEN, 'utf8')) as Versions;
  const changed = 'a layout has changed: raise FORMAT_VERSION, and note its fingerprint';
  t.is(versions[FORMAT_VERSION]?.fingerprint, FINGERPRINT, changed);
  t.is(versions[FORMAT_VERSION]?.control, CONTROL_FINGERPRINT, changed);
  const newest = Math.max(...Object.keys(versions).map(Number));
  t.is(newest, FORMAT_VERSION, 'no version goes back');
  const known = Object.values(versions).map(({ fingerprint }) => fingerprint);
  t.is(new Set(known).size, known.length, 'another version has other layouts');
  t.deepEqual(identityOf(3), { shard: 3, formatVersion: FORMAT_VERSION, fingerprint: FINGERPRINT });
});

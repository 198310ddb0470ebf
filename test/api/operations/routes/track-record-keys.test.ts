import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { metaOf, writeMeta } from '../../../../api/data-dir/data-dir.ts';
import { lostKeys, TrackRecordKeys } from '../../../../api/read-side/track-record-keys.ts';
import { FORMAT_VERSION } from '../../../../engine/format/version.ts';
import {
  recordProblem,
  signRecord,
} from '../../../../engine/records/track-record/track-record-signature.ts';
import { runHere } from '../../../process/run-here.ts';
import { startApi } from '../../support.ts';

function directory(t: ExecutionContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'paperbook-track-'));
  t.teardown(() => rmSync(made, { recursive: true }));
  writeMeta(made, { format: 'paperbook-data', version: FORMAT_VERSION, shards: 1 });
  return made;
}

test('Y66: a private key is made once, for its owner alone, and lost it is replaced', (t) => {
  const dir = directory(t);
  const secret = path.join(dir, 'track-record-key.json');
  const first = new TrackRecordKeys(dir);
  t.is(statSync(secret).mode & 0o777, 0o600);
  t.is(new TrackRecordKeys(dir).current.keyId, first.current.keyId);
  rmSync(secret);
  const second = new TrackRecordKeys(dir);
  t.not(second.current.keyId, first.current.keyId);
  t.deepEqual(
    second.jwks().keys.map(({ kid }) => kid),
    [second.current.keyId, first.current.keyId],
  );
});

test('D86: public keys that are gone are a problem, as long as they are', async (t) => {
  const dir = directory(t);
  const keys = new TrackRecordKeys(dir);
  await keys.rotate();
  t.deepEqual(lostKeys(dir), []);
  const file = path.join(dir, 'track-record-keys.json');
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  t.deepEqual(lostKeys(dir), [
    'track-record-keys.json has 0 of the 2 keys that have signed track records',
  ]);
  t.is(new TrackRecordKeys(dir).problems.length, 1);
  t.is(
    new TrackRecordKeys(dir).problems.length,
    1,
    'that of the private key is back, the other is not',
  );
  t.is(metaOf(dir).trackRecordKeys, 2);
  writeFileSync(file, text);
  t.deepEqual(new TrackRecordKeys(dir).problems, []);
});

test('Y66: a damaged file of keys is an error that names it, and quotes no key', (t) => {
  const dir = directory(t);
  new TrackRecordKeys(dir);
  for (const name of ['track-record-key.json', 'track-record-keys.json']) {
    const file = path.join(dir, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replace(/"(x|publicKeys)": (\[\s*)?"(.)/, (_, field, open = '', first) => {
        return `"${field}": ${open}"${first === 'A' ? 'B' : 'A'}`;
      }),
    );
    const error = t.throws(() => new TrackRecordKeys(dir), undefined, name);
    t.true(error.message.includes(name));
    writeFileSync(file, text);
  }
  const file = path.join(dir, 'track-record-key.json');
  writeFileSync(file, '{"kty":"OKP","crv":"Ed25519","x":"AAAA","d":"secret-part"}');
  const error = t.throws(() => new TrackRecordKeys(dir));
  t.notRegex(error.message, /secret-part/);
});

test('Y67: anyone gets the public keys; after a rotation the old one stays, and its records verify', async (t) => {
  const api = await startApi(t);
  const { trackRecordKeys } = api.context;
  const record = { version: 1 };
  const answer = { envelope: signRecord(record, trackRecordKeys.current), record, mode: 'paper' };
  const before = await api.call('GET', '/track-record/keys', { token: null });
  t.is(before.status, 200);
  t.is(before.json.keys.length, 1);
  const rotated = await api.admin('POST', '/admin/track-record/rotate');
  t.is(rotated.json.before, before.json.keys[0].kid);
  const after = await api.call('GET', '/track-record/keys', { token: null });
  t.deepEqual(after.json.keys[1], before.json.keys[0]);
  t.is(after.json.keys[0].kid, rotated.json.keyId);
  t.is(trackRecordKeys.current.keyId, rotated.json.keyId);
  t.is(recordProblem(answer, after.json.keys), null);
  t.false(JSON.stringify(after.json).includes('"d"'));
  const kept = readFileSync(path.join(api.dataDir, 'track-record-key.json'), 'utf8');
  t.false(kept.includes(before.json.keys[0].x));
});

test.serial(
  'U19, Y65: verify-record checks a file offline, and says what it has not proved',
  async (t) => {
    const dir = directory(t);
    const keys = new TrackRecordKeys(dir);
    const record = { version: 1, traderId: 'someone', brier: 0.2 };
    const answer = { envelope: signRecord(record, keys.current), record, mode: 'paper' };
    const file = path.join(dir, 'record.json');
    const jwks = path.join(dir, 'keys.json');
    writeFileSync(file, JSON.stringify(answer, null, 2));
    writeFileSync(jwks, JSON.stringify(keys.jwks()));
    const alone = await runHere(['verify-record', file]);
    t.is(alone.code, 0);
    t.regex(alone.stdout, /agrees with itself/);
    t.regex(alone.stdout, /does not prove/);
    const known = await runHere(['verify-record', file, '--keys', jwks, '--json']);
    const { keyId } = keys.current;
    t.deepEqual(JSON.parse(known.stdout), { ok: true, signer: 'known', keyId, problem: null });

    writeFileSync(file, JSON.stringify({ ...answer, record: { ...record, brier: 0.1 } }));
    const changed = await runHere(['verify-record', file, '--keys', jwks]);
    t.is(changed.code, 1);
    t.regex(changed.stdout, /is not genuine: record differs from the payload/);
    writeFileSync(file, JSON.stringify(answer).replace('"mode":', '"mode":"live","mode":'));
    const twice = await runHere(['verify-record', file]);
    t.is(twice.code, 1);
    t.true(twice.stderr.includes(`${file}: field "mode" is given twice`), twice.stderr);
    writeFileSync(file, JSON.stringify(answer));
    const twoLists = path.join(dir, 'two-lists.json');
    writeFileSync(twoLists, JSON.stringify(keys.jwks()).replace('{', '{"keys":[],'));
    const keysTwice = await runHere(['verify-record', file, '--keys', twoLists]);
    t.is(keysTwice.code, 1);
    t.true(keysTwice.stderr.includes(`${twoLists}: field "keys" is given twice`), keysTwice.stderr);
    const none = await runHere(['verify-record', path.join(dir, 'none.json')]);
    t.is(none.code, 1);
    t.false(existsSync(path.join(dir, 'none.json')));
  },
);

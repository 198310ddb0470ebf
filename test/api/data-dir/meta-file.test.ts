/** paperbook.json: what it says is what was written, or it is refused. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { type Meta, metaOf, writeMeta } from '../../../api/data-dir/data-dir.ts';
import { DataDirError } from '../../../api/data-dir/directory-files.ts';
import { FORMAT_VERSION } from '../../../engine/format/version.ts';
import { uuidOf } from '../../engine/fixtures.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';

const SECTION = 'D35, paperbook.json';
/** Each bit of a byte, and all of them. */
const MASKS = [1, 2, 4, 8, 16, 32, 64, 128, 255];
const META: Meta = { format: 'paperbook-data', version: FORMAT_VERSION, shards: 3, id: uuidOf(5) };

test(`${SECTION}: with any byte changed it is refused, or says the same`, (t) => {
  const dir = tempDir(t);
  writeMeta(dir, META);
  const file = path.join(dir, 'paperbook.json');
  const whole = readFileSync(file);
  let refused = 0;
  for (let offset = 0; offset < whole.length; offset++) {
    for (const mask of MASKS) {
      const bytes = Buffer.from(whole);
      bytes[offset]! ^= mask;
      writeFileSync(file, bytes);
      let meta: Meta | null = null;
      try {
        meta = metaOf(dir);
      } catch (error) {
        refused++;
        if (!(error instanceof DataDirError)) throw error;
      }
      if (meta !== null) t.like(meta, META, `byte ${offset}, mask ${mask}`);
    }
  }
  t.true(refused > (MASKS.length - 2) * (whole.length - 20), `${refused} of ${whole.length} bytes`);
});

test(`${SECTION}: an operator who edits it takes its checksum out`, (t) => {
  const dir = tempDir(t);
  writeMeta(dir, META);
  const file = path.join(dir, 'paperbook.json');
  const { crc32, ...rest } = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...rest, shards: 4, crc32 }));
  t.throws(() => metaOf(dir), { message: `${file} is damaged: it does not have its checksum` });
  writeFileSync(file, JSON.stringify({ ...rest, shards: 4 }));
  t.deepEqual(metaOf(dir), { ...META, shards: 4 });
});

/**
 * Makes the golden data directory of this version of the format, `test/golden/directory-N`, which
 * every later version opens, upgrades and verifies. Run it once for a version, and never again once
 * that version was released: `node test/api/make-golden-directory.ts`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { backUp } from '../../api/ops/backup.ts';
import { digest } from '../../engine/audit/digest.ts';
import { FORMAT_VERSION } from '../../engine/format/version.ts';
import { hashOfDigests } from '../../engine/shard/callers/merge-reports.ts';
import { goOn, stoppedServer } from '../api/stopped-server.ts';
import { openShard } from '../engine/shard/environment.ts';

const made = mkdtempSync(path.join(tmpdir(), 'paperbook-'));
const data = path.join(made, 'data');
await stoppedServer(data);
await goOn(data, 901, 8);
const target = fileURLToPath(new URL(`../golden/directory-${FORMAT_VERSION}`, import.meta.url));
rmSync(target, { recursive: true, force: true });
await backUp(data, target);
const shard = await openShard(path.join(data, 'shard-0'));
const stateHash = hashOfDigests([JSON.stringify(digest(shard.state))]);
await shard.abandon();
rmSync(made, { recursive: true });
const list = new URL('../golden/directories.json', import.meta.url);
const hashes = { ...JSON.parse(readFileSync(list, 'utf8')), [FORMAT_VERSION]: stateHash };
writeFileSync(list, `${JSON.stringify(hashes, null, 2)}\n`);

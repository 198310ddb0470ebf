/**
 * Makes `test/golden/directory-2`: a small data directory of format 2, which every later version opens,
 * upgrades and verifies. Run it once for a new version of the format: `node test/api/make-golden-directory.ts`.
 * A directory of a version that was released never changes.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { backUp } from '../../api/backup.ts';
import { digest } from '../../engine/audit/digest.ts';
import { FORMAT_VERSION } from '../../engine/format/version.ts';
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
const state = `${JSON.stringify(digest(shard.state), null, 1)}\n`;
writeFileSync(path.join(target, 'state.json'), state);
await shard.abandon();
rmSync(made, { recursive: true });

/** The demo's user and key, in DATA_DIR/demo.json for its owner only. Rule U2 (api/RULES.md). */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { readChecked, writeChecked } from '../data-dir/checked-file.ts';
import { DataDirError } from '../data-dir/directory-files.ts';
import { hashOfToken, keyStatus, newKey } from '../identity/keys.ts';
import { hashPassword, matchesPassword } from '../identity/passwords.ts';
import type { ControlStore } from '../identity/store.ts';
import { newUser } from '../identity/users.ts';

const NAME = 'demo.json';

export type DemoUser = {
  email: string;
  password: string;
  key: string;
  /** The keys of the bots, in their order; left out: there are none. Rule U34. */
  bots?: readonly string[];
};

/** High enough for a bot. Rule U2 (api/RULES.md). */
const LIMITS = { newPerMinute: 6000, newPerDay: 1_000_000, closingPerMinute: 6000 };
const BOT_LIMITS = { key: LIMITS, account: LIMITS };
const BOT_REQUESTS = { perMinute: 60_000, perMonth: 500_000_000 };

const LABEL = 'demo';
const EMAIL = 'demo@paperbook.local';
const SCOPES = ['records:read', 'portfolio:read', 'markets:read', 'trade:write'] as const;

/** The user and key of the last start, or new ones. `known`: what the last start wrote. */
export async function demoUser(identity: ControlStore, known: DemoUser | null): Promise<DemoUser> {
  const nowMs = Date.now();
  const bots = known?.bots === undefined ? {} : { bots: known.bots };
  let user = identity.userByEmail(EMAIL);
  if (user === undefined) {
    user = newUser(
      {
        email: EMAIL,
        displayName: 'Demo trader',
        plan: 'enterprise',
        tradeLimits: BOT_LIMITS,
        requestLimits: BOT_REQUESTS,
      },
      nowMs,
    );
    await identity.addUser(user);
  }
  const password = known?.password ?? randomBytes(12).toString('base64url');
  const kept = identity.passwords.get(user.id);
  if (kept === null || !(await matchesPassword(password, kept))) {
    await identity.passwords.put(user.id, await hashPassword(password));
  }
  const key = known === null ? undefined : identity.keyByHash(hashOfToken(known.key));
  if (known !== null && key?.userId === user.id && keyStatus(key, nowMs) === 'active') {
    return { email: EMAIL, password, key: known.key, ...bots };
  }
  if (known === null) await endEarlier(identity, user.id, nowMs);
  const made = newKey(user.id, { label: LABEL, scopes: [...SCOPES] }, 'cli', nowMs);
  await identity.putKey(made.key);
  return { email: EMAIL, password, key: made.token, ...bots };
}

/** The file is gone, maybe because others could read it, so the password and key are replaced. */
async function endEarlier(identity: ControlStore, userId: Uuid, nowMs: EpochMs): Promise<void> {
  const keys = identity.keysOf(userId).filter((key) => {
    return key.label === LABEL && key.revokedAtMs === null;
  });
  await identity.putKeys(keys.map((key) => ({ ...key, revokedAtMs: nowMs })));
  await identity.sessions.end(identity.sessions.ofUser(userId));
}

/** `{baseUrl, adminUrl, email, password, key, bots?}`. */
export function writeDemoFile(
  dataDir: string,
  { baseUrl, adminUrl }: { baseUrl: string; adminUrl: string },
  user: DemoUser,
): void {
  writeChecked(dataDir, NAME, { baseUrl, adminUrl, ...user });
}

/** What the last start wrote; null if there is no such file. Throws `DataDirError` if it is damaged. */
export function readDemoFile(dataDir: string): DemoUser | null {
  const value = readChecked(dataDir, NAME) as Partial<DemoUser> | undefined;
  if (value === undefined) return null;
  if (typeof value.key !== 'string' || typeof value.password !== 'string') {
    throw new DataDirError(
      `${path.join(dataDir, NAME)} is not a file of the demo: it has no key and password`,
    );
  }
  return value as DemoUser;
}

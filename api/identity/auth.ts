/** Selects the source of sessions: the embedded auth server, or the outside one configured. */

import type { Log } from '../base/logger.ts';
import type { Config } from '../config/settings.ts';
import type { OneTimeCodes } from './one-time-codes.ts';
import { OutsideAuth } from './outside-auth.ts';
import type { SessionSource } from './session-access.ts';
import { SignIn } from './sign-in.ts';
import { ensureSigningKey } from './signing-key.ts';
import type { ControlStore } from './store.ts';

export type Auth = {
  sessions: SessionSource;
  /** Null with an outside auth server: then /auth/v1 does not exist. */
  signIn: SignIn | null;
};

export async function createAuth(
  { dataDir, outsideAuth, defaultPlan }: Pick<Config, 'dataDir' | 'outsideAuth' | 'defaultPlan'>,
  store: ControlStore,
  log: Log,
  codes?: OneTimeCodes,
): Promise<Auth> {
  if (outsideAuth !== null) {
    return { sessions: new OutsideAuth(outsideAuth, store, log, defaultPlan), signIn: null };
  }
  const key = await ensureSigningKey(dataDir, log);
  const signIn = new SignIn(store, key, log, defaultPlan, codes);
  return { sessions: signIn, signIn };
}

/** Selects the source of sessions: the embedded auth server, or the outside one configured. */
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
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
): Promise<Auth> {
  if (outsideAuth !== null) {
    return { sessions: new OutsideAuth(outsideAuth, store, log, defaultPlan), signIn: null };
  }
  const signIn = new SignIn(store, await ensureSigningKey(dataDir, log), log, defaultPlan);
  return { sessions: signIn, signIn };
}

/** Where the person is signed in. */
import { call } from './calls.ts';
import { Loader } from './loaded.ts';
import { changePassword, signOutOthers } from './session.ts';

const loader = new Loader(async () => (await call('listSessions')).sessions);
/** Sessions of an outside auth server are not known. */
export const signIns = loader.now;

export async function loadSignIns(): Promise<void> {
  await loader.load();
}

/** Rejects with a `CallError`, as the others do. */
export async function endSignIn(id: string): Promise<void> {
  const { sessions } = await call('endSession', { path: { id } });
  loader.change(() => sessions);
}

export async function endOtherSignIns(): Promise<void> {
  await signOutOthers();
  await loadSignIns();
}

/** All other sessions end with it. */
export async function setPassword(current: string, next: string): Promise<void> {
  await changePassword(current, next);
  await loadSignIns();
}

export function forgetSignIns(): void {
  loader.clear();
}

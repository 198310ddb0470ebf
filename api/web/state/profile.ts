/** The data that others see of the signed-in person. */
import type { Me, ProfileChange } from '../../client/generated.js';
import { call } from './calls.ts';
import { Loader } from './loaded.ts';

const loader = new Loader(async (): Promise<Me['user']> => (await call('getMe')).user);
export const profile = loader.now;

export async function loadProfile(): Promise<void> {
  await loader.load();
}

/** Rejects with a `CallError`. */
export async function changeProfile(change: ProfileChange): Promise<void> {
  const { user } = await call('changeMe', { body: change });
  loader.change(() => user);
}

export function forgetProfile(): void {
  loader.clear();
}

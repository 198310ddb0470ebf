/** How real the fills of the personal account are: its choice, which the server keeps. */
import type { ProfileChange, Realism } from '../../client/generated.js';
import { call } from './calls.ts';
import { Loader } from './loaded.ts';

const loader = new Loader(async (): Promise<Realism> => (await call('getMe')).realism);
export const realism = loader.now;

export async function loadRealism(): Promise<void> {
  await loader.load();
}

/** Rejects with a `CallError`. */
export async function changeRealism(change: NonNullable<ProfileChange['realism']>): Promise<void> {
  const { realism: changed } = await call('changeMe', { body: { realism: change } });
  loader.change(() => changed);
}

export function forgetRealism(): void {
  loader.clear();
}

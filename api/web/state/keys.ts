/** The keys of the signed-in person. A new one's token is given to who asked, and kept nowhere. */
import type { KeyCreateRequest, KeyRotateRequest } from '../../client/generated.js';
import { call } from './calls.ts';
import { Loader } from './loaded.ts';

const loader = new Loader(() => call('listKeys'));
export const keys = loader.now;

export async function loadKeys(): Promise<void> {
  await loader.load();
}

/** Its token. Rejects with a `CallError`, as the others do. */
export async function createKey(body: KeyCreateRequest): Promise<string> {
  const { token } = await call('createKey', { body });
  void loadKeys();
  return token;
}

/** The token of its successor. */
export async function rotateKey(id: string, body: KeyRotateRequest): Promise<string> {
  const { token } = await call('rotateKey', { path: { id }, body });
  void loadKeys();
  return token;
}

export async function revokeKey(id: string): Promise<void> {
  await call('revokeKey', { path: { id } });
  await loadKeys();
}

export function forgetKeys(): void {
  loader.clear();
}

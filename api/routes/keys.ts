/** /api_keys: a person's keys, by their session. SPEC.md section 4, API keys. */
import type { Caller } from '../access.ts';
import type { Deps } from '../deps.ts';
import { KeyBook } from '../identity/key-book.ts';
import { KEY_INPUT, type Key, keyView } from '../identity/keys.ts';
import { type Route, session } from '../route.ts';
import { NoQuery, strict } from '../schemas/common.ts';
import {
  KeyAnswer,
  KeyListAnswer,
  NewKeyAnswer,
  RotatedKeyAnswer,
  RotateSchema,
} from '../schemas/identity.ts';
import { bodyReader } from '../validation.ts';

const WARNING = 'Store this token now: it is shown only this once and cannot be recovered.';

const readKeyInput = bodyReader(strict(KEY_INPUT));
const readRotation = bodyReader(RotateSchema);

export function keyRoutes({ identity, switches, meter, log }: Deps): Route<Caller>[] {
  const book = new KeyBook(identity, () => switches.trading);
  const view = (key: Key, nowMs: number) => ({
    ...keyView(key, nowMs),
    requestsThisMonth: meter.requestsThisMonth(key.id),
  });
  return [
    session({
      method: 'GET',
      path: '/api_keys',
      query: NoQuery,
      response: KeyListAnswer,
      run: ({ caller: { user } }) => {
        const nowMs = Date.now();
        const keys = identity.keysOf(user.id).map((key) => view(key, nowMs));
        const tradeWriteAvailable = switches.trading;
        return JSON.stringify({ keys, count: keys.length, tradeWriteAvailable });
      },
    }),
    session({
      method: 'POST',
      path: '/api_keys',
      query: NoQuery,
      status: 201,
      response: NewKeyAnswer,
      readBody: readKeyInput,
      run: async ({ caller: { user, via }, body }) => {
        const nowMs = Date.now();
        const { key, token } = await book.create(user.id, body, via, nowMs);
        log.info({ keyId: key.id, userId: user.id, scopes: key.scopes }, 'key created');
        return JSON.stringify({ key: view(key, nowMs), token, warning: WARNING });
      },
    }),
    session({
      method: 'POST',
      path: '/api_keys/{id}/rotate',
      query: NoQuery,
      status: 201,
      response: RotatedKeyAnswer,
      readBody: readRotation,
      run: async ({ caller: { user, via }, param, body }) => {
        const nowMs = Date.now();
        const made = await book.rotate(user.id, param.toLowerCase(), body, via, nowMs);
        const { key, token, rotated } = made;
        log.info({ keyId: key.id, userId: user.id, rotatedFrom: rotated.id }, 'key rotated');
        const views = { key: view(key, nowMs), rotated: view(rotated, nowMs) };
        return JSON.stringify({ ...views, token, warning: WARNING });
      },
    }),
    session({
      method: 'DELETE',
      path: '/api_keys/{id}',
      query: NoQuery,
      response: KeyAnswer,
      run: async ({ caller: { user }, param }) => {
        const nowMs = Date.now();
        const key = await book.revoke(user.id, param.toLowerCase(), nowMs);
        log.info({ keyId: key.id, userId: user.id }, 'key revoked');
        return JSON.stringify({ key: view(key, nowMs) });
      },
    }),
  ];
}

/** /api_keys: a person's keys, by their session. Rules I7 to I14 (api/RULES.md). */
import type { EpochMs } from '../../../engine/base/units.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { bodyReader, optionalBody } from '../../base/validation.ts';
import type { Caller } from '../../dispatch/access.ts';
import { type Route, session } from '../../dispatch/route.ts';
import { KeyBook } from '../../identity/key-book.ts';
import { type Key, KeyInputSchema, keyView } from '../../identity/keys.ts';
import { KEY, ROTATED_KEY, TOKEN } from '../../schemas/examples.ts';
import {
  KeyAnswer,
  KeyId,
  KeyListAnswer,
  NewKeyAnswer,
  RotatedKeyAnswer,
  RotateSchema,
} from '../../schemas/identity.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'log' | 'identity' | 'switches' | 'meter'>;

const WARNING = 'Store this token now: it is shown only once and cannot be recovered.';

const readKeyInput = bodyReader(KeyInputSchema);
const readRotation = optionalBody(bodyReader(RotateSchema));

/** The shared parts of the routes: the rules of keys, and a key as its owner sees it. */
type KeyContext = Context & { book: KeyBook; view: (key: Key, nowMs: EpochMs) => object };

export function keyRoutes(context: Context): Route<Caller>[] {
  const { identity, switches, meter } = context;
  const book = new KeyBook(identity, () => switches.trading);
  const view = (key: Key, nowMs: EpochMs) => ({
    ...keyView(key, nowMs),
    requestsThisMonth: meter.requestsThisMonth(key.id),
  });
  const shared = { ...context, book, view };
  return [listKeys(shared), createKey(shared), rotateKey(shared), revokeKey(shared)];
}

function listKeys({ identity, switches, view }: KeyContext): Route<Caller> {
  return session({
    method: 'GET',
    path: '/api_keys',
    about: {
      operationId: 'listKeys',
      tag: 'Keys',
      summary: 'List the keys of the signed-in person, in any status',
      example: { keys: [KEY], count: 1, tradeWriteAvailable: true },
    },
    query: NoQuery,
    response: KeyListAnswer,
    run: ({ caller: { user } }) => {
      const nowMs = Date.now();
      const keys = identity.keysOf(user.id).map((key) => view(key, nowMs));
      const tradeWriteAvailable = switches.trading;
      return JSON.stringify({ keys, count: keys.length, tradeWriteAvailable });
    },
  });
}

function createKey({ book, log, view }: KeyContext): Route<Caller> {
  return session({
    method: 'POST',
    path: '/api_keys',
    about: {
      operationId: 'createKey',
      tag: 'Keys',
      summary: 'Create a key, shown once',
      bodyExamples: { 'Trading bot': { label: 'bot', scopes: KEY.scopes, expiresInDays: 90 } },
      example: { key: KEY, token: TOKEN, warning: WARNING },
    },
    errors: ['scope_not_available', 'key_limit_reached', 'key_creation_limited'],
    writesControl: true,
    query: NoQuery,
    status: 201,
    response: NewKeyAnswer,
    readBody: readKeyInput,
    run: async ({ caller: { user, placedVia }, body }) => {
      const nowMs = Date.now();
      const { key, token } = await book.create(user.id, body, placedVia, nowMs);
      log.info({ keyId: key.id, userId: user.id, scopes: key.scopes }, 'key created');
      return JSON.stringify({ key: view(key, nowMs), token, warning: WARNING });
    },
  });
}

function rotateKey({ book, log, view }: KeyContext): Route<Caller> {
  return session({
    method: 'POST',
    path: '/api_keys/{id}/rotate',
    about: {
      operationId: 'rotateKey',
      tag: 'Keys',
      summary: 'Replace an active key, which keeps working for a while',
      param: KeyId,
      bodyExamples: { 'A day of grace': { graceHours: 24 } },
      example: {
        key: { ...KEY, rotatedFrom: ROTATED_KEY.id },
        token: TOKEN,
        warning: WARNING,
        rotated: ROTATED_KEY,
      },
    },
    errors: ['key_not_found', 'key_creation_limited'],
    writesControl: true,
    query: NoQuery,
    status: 201,
    response: RotatedKeyAnswer,
    readBody: readRotation,
    run: async ({ caller: { user, placedVia }, param, body }) => {
      const nowMs = Date.now();
      const made = await book.rotate(user.id, param.toLowerCase(), body, placedVia, nowMs);
      const { key, token, rotated } = made;
      log.info({ keyId: key.id, userId: user.id, rotatedFrom: rotated.id }, 'key rotated');
      const views = { key: view(key, nowMs), rotated: view(rotated, nowMs) };
      return JSON.stringify({ ...views, token, warning: WARNING });
    },
  });
}

function revokeKey({ book, log, view }: KeyContext): Route<Caller> {
  return session({
    method: 'DELETE',
    path: '/api_keys/{id}',
    about: {
      operationId: 'revokeKey',
      tag: 'Keys',
      summary: 'End a key at once',
      param: KeyId,
      example: { key: { ...KEY, status: 'revoked', revokedAt: KEY.createdAt } },
    },
    errors: ['key_not_found'],
    writesControl: true,
    query: NoQuery,
    response: KeyAnswer,
    run: async ({ caller: { user }, param }) => {
      const nowMs = Date.now();
      const key = await book.revoke(user.id, param.toLowerCase(), nowMs);
      log.info({ keyId: key.id, userId: user.id }, 'key revoked');
      return JSON.stringify({ key: view(key, nowMs) });
    },
  });
}

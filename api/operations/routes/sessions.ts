/** /me/sessions: where a person is signed in, by their session. Rule I45 (api/RULES.md). */
import { type EpochMs, isoOf, type Uuid } from '../../../engine/base/units.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { type Route, session } from '../../dispatch/route.ts';
import type { Session } from '../../identity/sessions.ts';
import { SESSION } from '../../schemas/examples.ts';
import { SessionId, SessionsAnswer } from '../../schemas/identity.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'log' | 'config' | 'identity'>;

export function sessionRoutes(context: Context): Route<Caller>[] {
  return [listSessions(context), endSession(context)];
}

function listSessions(context: Context): Route<Caller> {
  return session({
    method: 'GET',
    path: '/me/sessions',
    about: {
      operationId: 'listSessions',
      tag: 'Service',
      summary: 'List the sessions of the signed-in person, newest first',
      description: 'With an outside auth server the list is empty: that server has the sessions.',
      example: { sessions: [SESSION], count: 1, mode: 'paper' },
    },
    query: NoQuery,
    response: SessionsAnswer,
    run: ({ caller: { user, credentialId } }) =>
      answerOf(sessionsOf(context, user.id), credentialId),
  });
}

function endSession(context: Context): Route<Caller> {
  return session({
    method: 'DELETE',
    path: '/me/sessions/{id}',
    about: {
      operationId: 'endSession',
      tag: 'Service',
      summary: 'End a session at once; returns the remaining sessions',
      param: SessionId,
      example: { sessions: [SESSION], count: 1, mode: 'paper' },
    },
    errors: ['session_not_found'],
    writesControl: true,
    query: NoQuery,
    response: SessionsAnswer,
    run: async ({ caller: { user, credentialId }, param }) => {
      const id = param.toLowerCase();
      const sessions = sessionsOf(context, user.id);
      if (!sessions.some((own) => own.id === id)) throw new ApiError('session_not_found');
      await context.identity.sessions.end([id]);
      context.log.info({ sessionId: id, userId: user.id }, 'session ended');
      return answerOf(sessionsOf(context, user.id), credentialId);
    },
  });
}

/** The sessions that have not ended. Sessions of an outside auth server are not known here. */
function sessionsOf({ config, identity: { sessions } }: Context, userId: Uuid): Session[] {
  if (config.outsideAuth !== null) return [];
  const nowMs: EpochMs = Date.now();
  const live = sessions.ofUser(userId).flatMap((id) => sessions.get(id, nowMs) ?? []);
  return live.sort((a, b) => (a.id < b.id ? 1 : -1));
}

function answerOf(found: readonly Session[], currentId: Uuid): string {
  const sessions = found.map(({ id, createdAtMs, refreshedAtMs }) => ({
    id,
    createdAt: isoOf(createdAtMs),
    lastUsedAt: isoOf(refreshedAtMs),
    current: id === currentId,
  }));
  return JSON.stringify({ sessions, count: sessions.length, mode: 'paper' });
}

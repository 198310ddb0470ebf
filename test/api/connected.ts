/** Calls of a route as messages of a connection, on a server that a test has started. */

import { errorBody, Refusal } from '../../api/base/errors.ts';
import { admitter, type Caller, callerAgain, permit } from '../../api/dispatch/access.ts';
import { Metrics } from '../../api/dispatch/metrics.ts';
import { PacedRefusals } from '../../api/dispatch/paced-refusals.ts';
import { RouteInvoker } from '../../api/dispatch/route-invoker.ts';
import { createAuth } from '../../api/identity/auth.ts';
import { keyNow } from '../../api/identity/key-access.ts';
import type { Api, Json } from './support.ts';

type Message = { param?: string; body?: unknown; organization?: string | null };
type Connected = (caller: Caller, message: Message) => Promise<{ status: number; json: Json }>;

/** The key of the connection is read again at each message. */
export async function connectTo(api: Api, method: string, path: string): Promise<Connected> {
  const { engine, config, identity, log, meter, organizations, switches } = api.context;
  const { sessions } = await createAuth(config, identity, log);
  const route = api.routes.find((route) => route.method === method && route.path === path)!;
  const calls = new RouteInvoker(route, {
    permit,
    admit: admitter({
      keyNow: (caller) => keyNow(identity, caller),
      ...{ sessions, switches, organizations },
      realism: identity.realism,
    }),
    refusal: () => engine.refusal(),
    keyed: ({ user, key }) => meter.keyed(user, key?.id ?? null),
    metrics: new Metrics(),
    paced: new PacedRefusals(),
    log,
  });
  const again = callerAgain({
    store: identity,
    sessions: { source: sessions, scheme: 'http', switches },
    onWriteFailed: (error) => {
      throw error;
    },
  });
  return (before, { param = '', body = null, organization = null }) =>
    new Promise((resolve) => {
      const answer = (status: number, text: string) => resolve({ status, json: JSON.parse(text) });
      try {
        calls.take({ caller: again(before), param, body, organization, isCounted: true }, answer);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        answer(error.status, errorBody(error.code, error.message, error.retryAfterSeconds));
      }
    });
}

/** GET /status: whether the service is up. Rule A56 (api/RULES.md). */
import { isoOf } from '../../../engine/base/units.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import type { Caller } from '../../dispatch/access.ts';
import { open, type Route } from '../../dispatch/route.ts';
import { StatusAnswer } from '../../schemas/identity.ts';

export function statusRoutes(): Route<Caller>[] {
  return [
    open({
      method: 'GET',
      path: '/status',
      about: {
        operationId: 'getStatus',
        tag: 'Service',
        summary: 'Whether the service answers, and its time',
        example: { ok: true, version: 'v1', mode: 'paper', time: '2026-11-21T05:00:00.000Z' },
      },
      query: NoQuery,
      response: StatusAnswer,
      cacheSeconds: 5,
      run: () =>
        JSON.stringify({ ok: true, version: 'v1', mode: 'paper', time: isoOf(Date.now()) }),
    }),
  ];
}

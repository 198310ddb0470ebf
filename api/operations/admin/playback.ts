/** Admin routes that play a feed file into the server. Rules R38 to R40 (feeds/FORMATS.md). */
import { Type } from '@sinclair/typebox';
import { DateTime, NoQuery, strict } from '../../base/common-schemas.ts';
import { invalidRequest } from '../../base/errors.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { PlayedAnswer } from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'playback' | 'log'>;

/** A line of a feed file has at most 16 MiB. */
const BODY_BYTES_MAX = 24 * 1024 * 1024;

/** Lines of a feed file as they are, without its header. */
const readLines = Object.assign((text: string) => text, {
  ofValue(value: unknown): string {
    if (typeof value === 'string') return value;
    throw invalidRequest('the body must be text');
  },
  schema: Type.String(),
  isRequired: true,
});

const PlaybackQuery = strict({ from: Type.Optional(DateTime) });

export function playbackAdminRoutes({ playback, log }: Context): Route<Operator>[] {
  return [
    keyed({
      method: 'POST',
      path: '/admin/playback',
      query: PlaybackQuery,
      response: PlayedAnswer,
      mayBeUnavailable: true,
      readBody: readLines,
      bodyBytesMax: BODY_BYTES_MAX,
      run: async ({ body, query }) => {
        const fromMs = query.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(query.from);
        return JSON.stringify(await playback.take(body, fromMs));
      },
    }),
    keyed({
      method: 'DELETE',
      path: '/admin/playback',
      query: NoQuery,
      response: strict({}),
      run: () => {
        playback.close();
        log.info({}, 'the connections of the played feed file have ended');
        return '{}';
      },
    }),
  ];
}

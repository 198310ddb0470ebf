/** GET /openapi.json: the description of every route. Rule A70 (api/RULES.md). */
import { Type } from '@sinclair/typebox';
import { NoQuery } from '../../base/common-schemas.ts';
import type { Caller } from '../../dispatch/access.ts';
import { open, type Route } from '../../dispatch/route.ts';
import { describeApi } from '../../openapi/document.ts';
import { INSTRUMENT_ID } from '../../schemas/examples.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'catalog'>;

const OpenApiDocument = Type.Object(
  {
    openapi: Type.String({ pattern: '^3\\.1\\.' }),
    info: Type.Object({ version: Type.String() }),
    paths: Type.Object({}),
    components: Type.Object({}),
  },
  { title: 'OpenApiDocument', description: 'An OpenAPI 3.1 document.' },
);

/**
 * The route that describes `routes` and itself, at the first request for it. Its examples name an
 * instrument that can be traded, so that readers can try them.
 */
export function descriptionRoute(
  routes: readonly Route<Caller>[],
  basePath: string,
  context: Context,
): Route<Caller> {
  let text: string | null = null;
  /** As it was answered last: replacing it takes a millisecond. */
  let shown = { id: '', text: '' };
  const own: Route<Caller> = open({
    method: 'GET',
    path: '/openapi.json',
    about: {
      operationId: 'getDescription',
      tag: 'Service',
      summary: 'This description',
      example: {
        openapi: '3.1.1',
        info: { version: '1.11.0' },
        paths: {},
        components: {},
      },
    },
    query: NoQuery,
    response: OpenApiDocument,
    cacheSeconds: 60,
    run: () => {
      text ??= JSON.stringify(describeApi([...routes, own], basePath));
      const { catalog, engine } = context;
      const nowMs = engine.nowMs();
      const tradable = catalog.instruments().find((entry) => catalog.isTradable(entry, nowMs));
      if (tradable === undefined) return text;
      const { id } = tradable;
      if (shown.id !== id) shown = { id, text: text.replaceAll(INSTRUMENT_ID, id) };
      return shown.text;
    },
  });
  return own;
}

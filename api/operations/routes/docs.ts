/**
 * GET /docs: the description as a page, outside /v1. Everything on it is from this server, and its
 * Content-Security-Policy allows nothing else. Rules A72, A169 (api/RULES.md).
 */
import { readFileSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { NoQuery } from '../../base/common-schemas.ts';
import { open, type Route } from '../../dispatch/route.ts';
import { Asset } from '../../http/asset.ts';

const PageText = Type.String();
const PAGE_SECONDS = 60;
const ASSET_SECONDS = 31_536_000;

// Every answer has the same headers, and every refusal the same body: the introduction has both.
// Without `validatorUrl` Swagger UI would use a validator on the internet.
const START = `const isDark = matchMedia('(prefers-color-scheme: dark)');
const show = () => document.documentElement.classList.toggle('dark-mode', isDark.matches);
isDark.addEventListener('change', show);
show();
SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [{ wrapComponents: { headers: () => () => null } }],
});
`;
const STYLES = `.swagger-ui .response:not([data-code^="2"]) .response-col_description > :not(
  .response-col_description__inner
), .swagger-ui .response-col_links, .swagger-ui .response-control-media-type__accept-message { display: none }
.swagger-ui .response-col_description__inner p { margin: 0; font-size: 12px; line-height: 1.3 }
.swagger-ui .response-col_description__inner code { padding: 0 4px }
.swagger-ui .responses-table .response td { padding-top: 4px }
.swagger-ui .responses-wrapper .highlight-code > .microlight { max-height: 180px }
.swagger-ui .body-param__text { min-height: 150px; height: 150px }
.swagger-ui table.parameters > tbody > tr > td { padding: 2px 0 }
.swagger-ui .parameters-col_name { min-width: 130px }
.swagger-ui .parameters .parameter__name { white-space: nowrap; padding-right: 12px }
.swagger-ui .opblock-description-wrapper { padding: 6px 20px }
.swagger-ui .opblock-description-wrapper p { margin: 0 0 6px }
.swagger-ui .opblock .opblock-section-header { min-height: 0; padding: 4px 20px }
.swagger-ui .execute-wrapper, .swagger-ui .responses-inner { padding: 8px 20px }
.swagger-ui .opblock-section-request-body .opblock-description-wrapper { padding: 4px 20px }
`;
let routes: Route<null>[] | null = null;

/** The page and its parts; the first call in a process reads the files of Swagger UI. */
export function docsRoutes(): Route<null>[] {
  routes ??= makeRoutes();
  return routes;
}

function makeRoutes(): Route<null>[] {
  const styles = Asset.of(
    'swagger-ui.css',
    fileAt(import.meta.resolve('@fastify/swagger-ui/static/swagger-ui.css')),
  );
  const bundle = Asset.of(
    'swagger-ui-bundle.js',
    fileAt(import.meta.resolve('@fastify/swagger-ui/static/swagger-ui-bundle.js')),
  );
  const start = Asset.of('start.js', Buffer.from(START));
  const own = Asset.of('short.css', Buffer.from(STYLES));
  return [
    pageRoute({ styles, own, bundle, start }),
    assetRoute(styles),
    assetRoute(own),
    assetRoute(bundle),
    assetRoute(start),
  ];
}

type Parts = Record<'styles' | 'own' | 'bundle' | 'start', Asset>;

function pageRoute({ styles, own, bundle, start }: Parts): Route<null> {
  // Relative, so that it also works below a proxy's path.
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Paperbook API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/${styles.name}">
<link rel="stylesheet" href="docs/${own.name}">
</head>
<body>
<div id="api"></div>
<noscript>This page needs JavaScript; <a href="v1/openapi.json">v1/openapi.json</a> does not.</noscript>
<script src="docs/${bundle.name}"></script>
<script src="docs/${start.name}"></script>
</body>
</html>
`;
  return open({
    method: 'GET',
    path: '/docs',
    query: NoQuery,
    response: PageText,
    contentType: 'text/html; charset=utf-8',
    cacheSeconds: PAGE_SECONDS,
    run: () => page,
  });
}

function assetRoute(asset: Asset): Route<null> {
  return open({
    method: 'GET',
    path: `/docs/${asset.name}`,
    query: NoQuery,
    response: PageText,
    cacheSeconds: ASSET_SECONDS,
    isAsset: true,
    run: ({ headers }) => asset.bodyFor(headers['accept-encoding'] ?? ''),
  });
}

function fileAt(url: string): Buffer {
  return readFileSync(new URL(url));
}

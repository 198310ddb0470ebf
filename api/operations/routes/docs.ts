/**
 * GET /docs: the description as a page, outside /v1. Everything on it is from this server, and its
 * Content-Security-Policy allows nothing else. Rule A72 (api/RULES.md).
 */
import { readFileSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { NoQuery } from '../../base/common-schemas.ts';
import { open, type Route } from '../../dispatch/route.ts';
import { Asset } from '../../http/asset.ts';

const PageText = Type.String();
const PAGE_SECONDS = 60;
const ASSET_SECONDS = 31_536_000;

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
});
`;

/** The page and its parts; reads the files of Swagger UI once, here. */
export function docsRoutes(): Route<null>[] {
  const styles = Asset.of(
    'swagger-ui.css',
    fileAt(import.meta.resolve('@fastify/swagger-ui/static/swagger-ui.css')),
  );
  const bundle = Asset.of(
    'swagger-ui-bundle.js',
    fileAt(import.meta.resolve('@fastify/swagger-ui/static/swagger-ui-bundle.js')),
  );
  const start = Asset.of('start.js', Buffer.from(START));
  return [
    pageRoute({ styles, bundle, start }),
    assetRoute(styles),
    assetRoute(bundle),
    assetRoute(start),
  ];
}

type Parts = Record<'styles' | 'bundle' | 'start', Asset>;

function pageRoute({ styles, bundle, start }: Parts): Route<null> {
  // Relative, so that it also works below a proxy's path.
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Paperbook API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/${styles.name}">
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
    run: ({ acceptEncoding }) => asset.bodyFor(acceptEncoding),
  });
}

function fileAt(url: string): Buffer {
  return readFileSync(new URL(url));
}

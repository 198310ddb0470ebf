/**
 * GET /docs: the description as a page, outside /v1. Everything on it comes from this server, and
 * its Content-Security-Policy allows nothing else. GET / redirects browsers there. Rule A72
 * (api/RULES.md).
 */
import { readFileSync } from 'node:fs';
import { Type } from '@sinclair/typebox';
import { Asset } from '../asset.ts';
import type { Exchange } from '../exchange.ts';
import { headerLines } from '../header-lines.ts';
import type { Metrics } from '../metrics.ts';
import { open, type Route } from '../route.ts';
import { NoQuery } from '../schemas/common.ts';
import { DARK_STYLES } from './docs-dark.ts';

/** Content-Security-Policy of the page and its parts. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const PageText = Type.String();
const PAGE_SECONDS = 60;
const ASSET_SECONDS = 31_536_000;

// Without this Swagger UI would use a validator on the internet.
const START = `SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** The page and its parts; reads the files of Swagger UI once, here. */
export function docsRoutes(): Route<null>[] {
  const styles = new Asset(
    'swagger-ui.css',
    fileAt(import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
  );
  const dark = new Asset('dark.css', Buffer.from(DARK_STYLES));
  const bundle = new Asset(
    'swagger-ui-bundle.js',
    fileAt(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  );
  const start = new Asset('start.js', Buffer.from(START));
  return [
    pageRoute({ styles, dark, bundle, start }),
    assetRoute('text/css', styles),
    assetRoute('text/css', dark),
    assetRoute('text/javascript', bundle),
    assetRoute('text/javascript', start),
  ];
}

const ENTRY = { method: 'GET', path: '/' } as const;
const ENTRY_STATUS = 302;
const ENTRY_PAGE = '<!doctype html>\n<title>Paperbook</title>\n<a href="docs">API</a>\n';

/**
 * The `handle` of `/`: redirects browsers to the page and passes all others on to `otherwise`.
 *
 * @param policy Content-Security-Policy of the answer
 */
export function entryHandler(
  otherwise: (exchange: Exchange) => void,
  policy: string,
  metrics: Metrics,
): (exchange: Exchange) => void {
  const requests = metrics.requestsOf(ENTRY);
  const headers = headerLines([
    ...['Location', 'docs', 'Content-Type', 'text/html; charset=utf-8'],
    ...['Cache-Control', 'no-store', 'Content-Security-Policy', policy],
  ]);
  return (exchange) => {
    const { method } = exchange;
    const isBrowser = /\btext\/html\b/.test(exchange.header('accept'));
    if (!isBrowser || (method !== 'GET' && method !== 'HEAD')) return otherwise(exchange);
    exchange.route = ENTRY.path;
    requests.add(ENTRY_STATUS, exchange.startedMs);
    exchange.answer(ENTRY_STATUS, headers, ENTRY_PAGE);
  };
}

type Parts = Record<'styles' | 'dark' | 'bundle' | 'start', Asset>;

function pageRoute({ styles, dark, bundle, start }: Parts): Route<null> {
  // Relative, so that it also works below a proxy's path.
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Paperbook API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/${styles.name}">
<link rel="stylesheet" href="docs/${dark.name}" media="(prefers-color-scheme: dark)">
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

function assetRoute(type: string, asset: Asset): Route<null> {
  return open({
    method: 'GET',
    path: `/docs/${asset.name}`,
    query: NoQuery,
    response: PageText,
    contentType: `${type}; charset=utf-8`,
    cacheSeconds: ASSET_SECONDS,
    isAsset: true,
    run: ({ acceptEncoding }) => asset.bodyFor(acceptEncoding),
  });
}

function fileAt(url: string): Buffer {
  return readFileSync(new URL(url));
}

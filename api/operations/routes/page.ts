/**
 * The page for people, at `/` for browsers, and its parts below `/web`. Rules A96 to A98
 * (api/RULES.md).
 */
import { Type } from '@sinclair/typebox';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import { open, type Route } from '../../dispatch/route.ts';
import type { HttpContext } from '../../http/http-context.ts';
import type { PageName } from '../../page/make-web-bundle.ts';
import { escapedXml } from '../../page/trader-picture.ts';
import { type WebBundle, webBundle } from '../../page/web-bundle.ts';

const PageText = Type.String();
const PART_SECONDS = 31_536_000;
const TITLES: Readonly<Record<PageName, string>> = {
  page: 'Paperbook',
  operator: 'Paperbook operator',
};
// A closed book, in the page's accent.
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect x='2' y='1' width='12' height='14' rx='2' fill='%231f5fae'/%3E" +
  "%3Cpath d='M5 5h6M5 8h6M5 11h4' stroke='%23fff' stroke-width='1.4'/%3E%3C/svg%3E";

type PageOptions = {
  /** Whether visitors without an account read public data. Rule A161. */
  hasGuests: boolean;
};

const ROOT_TEXT = `Paperbook: paper trading of prediction markets. No order reaches a venue.

/                  the page, in a browser
/docs              the API, described
/v1/openapi.json   the same for programs
/v1                the API, with a key
`;

/** `/` for programs that name no HTML, such as curl. Rule A96. */
export function rootTextRoute(): Route<null> {
  return open({
    method: 'GET',
    path: '/',
    query: NoQuery,
    response: PageText,
    contentType: 'text/plain; charset=utf-8',
    run: () => ROOT_TEXT,
  });
}

/** The page and its parts. */
export function pageRoutes(
  name: PageName,
  options: PageOptions = { hasGuests: false },
): Route<null>[] {
  return [
    open({
      method: 'GET',
      path: '/',
      query: NoQuery,
      response: PageText,
      contentType: 'text/html; charset=utf-8',
      run: async () => pageText(name, await webBundle(), options),
    }),
    open({
      method: 'GET',
      path: '/web/{name}',
      query: NoQuery,
      response: PageText,
      cacheSeconds: PART_SECONDS,
      isAsset: true,
      errors: ['route_not_found'],
      run: async ({ param, headers }) => {
        const { parts } = await webBundle();
        const part = parts.get(param);
        if (part === undefined) throw new ApiError('route_not_found');
        return await part.bodyFor(headers['accept-encoding'] ?? '');
      },
    }),
  ];
}

/** Whether a browser asks for a page: it names HTML, as programs do not. */
export function wantsPage(http: HttpContext): boolean {
  return isRead(http) && /\btext\/html\b/.test(http.header('accept'));
}

export function isRead({ method }: HttpContext): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** What differs between the documents of the page. */
export type DocumentOptions = PageOptions & {
  /** From the document to the page's folder: `../`; empty where it is left out. */
  up?: string;
  title?: string;
  /** Lines of HTML. */
  head?: readonly string[];
};

/** A document that opens the page. */
export function pageText(
  name: PageName,
  { styles, pages }: WebBundle,
  { hasGuests, up = '', title = TITLES[name], head = [] }: DocumentOptions,
): string {
  const { script, imported } = pages[name];
  const links = imported.map((part) => `<link rel="modulepreload" href="${up}web/${part}">\n`);
  const visitors = hasGuests ? '<meta name="paperbook-visitors" content="on">\n' : '';
  // Relative, so that it also works below a proxy's path.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${visitors}<title>${escapedXml(title)}</title>
${head.map((line) => `${line}\n`).join('')}<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${up}web/${styles}">
${links.join('')}</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript; the API does not.</noscript>
<script type="module" src="${up}web/${script}"></script>
</body>
</html>
`;
}

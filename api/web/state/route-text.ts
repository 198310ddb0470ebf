/** Addresses of views, as text. */

/** The names of views. */
export const VIEWS = [
  ...(['markets', 'market', 'portfolio', 'boards', 'trader', 'backtest', 'settings'] as const),
  'sign-in',
] as const;
export type ViewName = (typeof VIEWS)[number];

export type Route = {
  /** Null: there is no such view. */
  view: ViewName | null;
  /** `ins_…` of `#/market/ins_…`; empty without one. */
  param: string;
  query: Readonly<Record<string, string>>;
};

/** The props of each view. If `param` is another one, the view begins again. */
export type ViewProps = Pick<Route, 'param' | 'query'>;

/** @param hash `#/market/ins_…?window=7d`; an empty one means the markets */
export function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split('?');
  const [name = '', param = ''] = path.split('/');
  const view = name === '' ? 'markets' : (VIEWS.find((one) => one === name) ?? null);
  return { view, param: decoded(param), query: Object.fromEntries(new URLSearchParams(search)) };
}

/** Null and empty fields of the query are left out. */
export function hrefOf(
  view: ViewName,
  param = '',
  query: Readonly<Record<string, string | null>> = {},
): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== '');
  const search = new URLSearchParams(given as [string, string][]).toString();
  const path = param === '' ? view : `${view}/${encodeURIComponent(param)}`;
  return `#/${path}${search === '' ? '' : `?${search}`}`;
}

/** The sign-in that returns to an address, such as `#/market/ins_…`. */
export function signInHref(hash: string): string {
  const back = hash.replace(/^#?\/?/, '');
  return hrefOf('sign-in', '', { back: back.startsWith('sign-in') ? '' : back });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Orders that are not separate HTTP requests: parts of a batch, messages of a stream. They take the
 * path of the HTTP routes. Rules J20, J30 (api/RULES.md).
 */
import type { Caller } from './access.ts';
import type { Route } from './route.ts';
import { RouteInvoker, type RouteInvokerOptions } from './route-invoker.ts';

export type OrderEntry = Readonly<Record<'place' | 'cancel' | 'cancel_all', RouteInvoker>>;

/** @param routes must include the routes that place and cancel orders */
export function orderEntry(
  routes: readonly Route<Caller>[],
  options: RouteInvokerOptions,
): OrderEntry {
  const callsOf = (method: string, path: string) => {
    const route = routes.find((one) => one.method === method && one.path === path);
    if (route === undefined) throw new Error(`no route answers ${method} ${path}`);
    return new RouteInvoker(route, options);
  };
  return {
    place: callsOf('POST', '/portfolio/orders'),
    cancel: callsOf('DELETE', '/portfolio/orders/{orderId}'),
    cancel_all: callsOf('DELETE', '/portfolio/orders'),
  };
}

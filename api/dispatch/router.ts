/** Finds the routes of a path. Fixed segments win over a parameter in the same place. */
import type { Route } from './route.ts';

type Placed = Pick<Route<never>, 'method' | 'path'>;

/** Everything at one path. */
type PathEntry<R> = {
  /** As registered, with the prefix: `/v1/instruments/{ref}/quote`. */
  path: string;
  /** HEAD is present wherever GET is. Rule A12 (api/RULES.md). */
  routes: Map<string, R>;
  /** Value of the Allow header. */
  allow: string;
};

/** `param`: the value of the parameter; the values of several with `/` between. */
type Match<R> = { entry: PathEntry<R>; param: string };

export type Router<R> = (path: string) => Match<R> | null;

/** A router over `prefix` + each route's path. */
export function createRouter<R extends Placed>(prefix: string, routes: readonly R[]): Router<R> {
  const fixed = new Map<string, Match<R>>();
  const open: { head: string; tail: string; entry: PathEntry<R> }[] = [];
  const wide: { pattern: RegExp; entry: PathEntry<R> }[] = [];
  for (const [path, entry] of entriesOf(prefix, routes)) {
    const [head, tail, ...more] = path.split(/\{\w+\}/) as [string, ...string[]];
    if (tail === undefined) fixed.set(head, { entry, param: '' });
    else if (more.length === 0) open.push({ head, tail, entry });
    else wide.push({ pattern: patternOf([head, tail, ...more]), entry });
  }

  return (path) => {
    const match = fixed.get(path);
    if (match !== undefined) return match;
    for (const { head, tail, entry } of open) {
      if (!path.startsWith(head) || !path.endsWith(tail)) continue;
      const param = path.slice(head.length, path.length - tail.length);
      if (param !== '' && !param.includes('/')) return { entry, param };
    }
    for (const { pattern, entry } of wide) {
      const found = pattern.exec(path);
      if (found !== null) return { entry, param: found.slice(1).join('/') };
    }
    return null;
  };
}

function patternOf(parts: readonly string[]): RegExp {
  const fixed = parts.map((part) => part.replaceAll(/[^\w/-]/g, '\\$&'));
  return new RegExp(`^${fixed.join('([^/]+)')}$`);
}

function entriesOf<R extends Placed>(
  prefix: string,
  routes: readonly R[],
): Map<string, PathEntry<R>> {
  const entries = new Map<string, PathEntry<R>>();
  for (const route of routes) {
    const path = prefix + route.path;
    const entry = entries.get(path) ?? { path, routes: new Map(), allow: '' };
    if (entry.routes.has(route.method)) {
      throw new Error(`${route.method} ${route.path} is registered twice`);
    }
    entry.routes.set(route.method, route);
    if (route.method === 'GET') entry.routes.set('HEAD', route);
    entry.allow = [...entry.routes.keys(), 'OPTIONS'].join(', ');
    entries.set(path, entry);
  }
  return entries;
}

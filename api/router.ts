/** Finds what is registered at a path. Fixed segments win over a parameter in the same place. */
import type { Route } from './route.ts';

/** Everything at one path. */
type PathEntry<C> = {
  /** HEAD is there wherever GET is. CONTRACT.md section 1. */
  routes: Map<string, Route<C>>;
  /** Value of the Allow header. */
  allow: string;
};

type Match<C> = { entry: PathEntry<C>; param: string };

export type Router<C> = (path: string) => Match<C> | null;

/** A router over `prefix` + each route's path. */
export function createRouter<C>(prefix: string, routes: readonly Route<C>[]): Router<C> {
  const fixed = new Map<string, Match<C>>();
  const open: { segments: string[]; at: number; entry: PathEntry<C> }[] = [];
  for (const [path, entry] of entriesOf(routes)) {
    const segments = (prefix + path).split('/');
    const at = segments.findIndex((segment) => segment.startsWith('{'));
    if (at < 0) fixed.set(prefix + path, { entry, param: '' });
    else open.push({ segments, at, entry });
  }

  return (path) => {
    const match = fixed.get(path);
    if (match !== undefined) return match;
    const segments = path.split('/');
    for (const candidate of open) {
      if (!fits(candidate.segments, candidate.at, segments)) continue;
      return { entry: candidate.entry, param: segments[candidate.at]! };
    }
    return null;
  };
}

function fits(pattern: string[], at: number, segments: string[]): boolean {
  if (pattern.length !== segments.length || segments[at] === '') return false;
  return pattern.every((segment, i) => i === at || segment === segments[i]);
}

function entriesOf<C>(routes: readonly Route<C>[]): Map<string, PathEntry<C>> {
  const entries = new Map<string, PathEntry<C>>();
  for (const route of routes) {
    const entry = entries.get(route.path) ?? { routes: new Map(), allow: '' };
    if (entry.routes.has(route.method)) {
      throw new Error(`${route.method} ${route.path} is registered twice`);
    }
    entry.routes.set(route.method, route);
    if (route.method === 'GET') entry.routes.set('HEAD', route);
    entry.allow = [...entry.routes.keys(), 'OPTIONS'].join(', ');
    entries.set(route.path, entry);
  }
  return entries;
}

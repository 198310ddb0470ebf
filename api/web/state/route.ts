/** The present place: the fragment of the page's address, `#/market/ins_…?window=7d`. */
import { computed, signal } from '@preact/signals';
import { enteredAt } from './entered.ts';
import { hrefOf, type Route, routeOf } from './route-text.ts';

export const route = signal<Route>(routeOf(new URL(enteredAt).hash));

/** If it changes, the view begins again; with another query it is still the same view. */
export const shownView = computed(() => `${route.value.view}/${route.value.param}`);

export function startRoute(): void {
  addEventListener('hashchange', () => {
    route.value = routeOf(location.hash);
  });
}

/** The address of the present place, as `hrefOf` makes it. */
export function hash(): string {
  const { view, param, query } = route.value;
  return hrefOf(view ?? 'markets', param, query);
}

/** Goes to an address that `hrefOf` has made. */
export function go(href: string): void {
  location.hash = href;
}

/** As `go`, without an entry in the history, for changes during typing. */
export function replace(href: string): void {
  history.replaceState(null, '', href);
  route.value = routeOf(href);
}

/**
 * The views by name. The first one is loaded with the page, each other one when it is opened, or
 * before, once the page has nothing to do. Rule U47 (api/RULES.md).
 */
import type { ComponentType } from 'preact';
import type { ViewName, ViewProps } from './state/route-text.ts';
import { MarketsView } from './views/markets/markets.tsx';

type View = ComponentType<ViewProps>;

/** The view itself, or its loader. The sign-in is shown in place of all of them. */
export const VIEW_OF: Readonly<
  Record<Exclude<ViewName, 'sign-in'>, { view: View } | { load(): Promise<View> }>
> = {
  markets: { view: MarketsView },
  market: { load: async () => (await import('./views/market/market.tsx')).MarketView },
  portfolio: { load: async () => (await import('./views/portfolio/portfolio.tsx')).PortfolioView },
  boards: { load: async () => (await import('./views/boards/boards.tsx')).BoardsView },
  trader: { load: async () => (await import('./views/trader/trader.tsx')).TraderView },
  backtest: { load: async () => (await import('./views/backtest/backtest.tsx')).BacktestView },
  settings: { load: async () => (await import('./views/settings/settings.tsx')).SettingsView },
};

/** Those that people go to next; a failure is no news before one of them is opened. */
export function fetchNextViews(): void {
  const fetchAll = () => {
    for (const view of ['market', 'portfolio'] as const) {
      const of = VIEW_OF[view];
      if ('load' in of) of.load().catch(() => undefined);
    }
  };
  if ('requestIdleCallback' in globalThis) requestIdleCallback(fetchAll, { timeout: IDLE_MS });
  else setTimeout(fetchAll, IDLE_MS);
}

const IDLE_MS = 3000;

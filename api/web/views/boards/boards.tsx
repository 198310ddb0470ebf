/** Boards: who made the most, whose forecasts were the best, and how one's own were. */
import { useEffect } from 'preact/hooks';
import { Tabs } from '../../parts/tabs.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { needOwnId } from '../../state/own-id.ts';
import { replace } from '../../state/route.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import type { Fills } from '../../state/score-text.ts';
import { isVisitor } from '../../state/visitor.ts';
import { FindTrader } from '../trader/find-trader.tsx';
import { FILLS, KINDS, METRICS, windowOf } from './board-words.ts';
import { EvalTab } from './eval-tab.tsx';
import { LeaderboardTab } from './leaderboard-tab.tsx';
import { OwnEvalTab } from './own-eval-tab.tsx';
import { VerdictTab } from './verdict-tab.tsx';

type Tab = 'leaderboard' | 'eval' | 'own' | 'verdict';

const TABS: readonly { name: Tab; text: string; window: string }[] = [
  { name: 'leaderboard', text: 'Leaderboard', window: '30d' },
  { name: 'eval', text: 'Evaluation', window: '90d' },
  { name: 'own', text: 'Your evaluation', window: '90d' },
  { name: 'verdict', text: 'Your edge', window: 'all' },
];

const PUBLIC_TABS = TABS.filter(({ name }) => name === 'leaderboard' || name === 'eval');

export function BoardsView({ query }: ViewProps) {
  useEffect(() => void needOwnId(), []);
  const tabs = isVisitor.value ? PUBLIC_TABS : TABS;
  const tab = tabs.find(({ name }) => name === query.tab) ?? TABS[0]!;
  const window = windowOf(query.window) ?? tab.window;
  const show = (changed: Readonly<Record<string, string | null>>) => {
    replace(hrefOf('boards', '', { ...query, ...changed }));
  };
  const counted = {
    window,
    fills: (FILLS.find(({ value }) => value === query.fills) ?? FILLS[0]!).value,
    onWindow: (picked: string) => show({ window: picked }),
    onFills: (picked: Fills) => show({ fills: picked }),
  };
  return (
    <>
      <ViewHead title="Boards" />
      <FindTrader />
      <Tabs<Tab>
        label="Boards"
        tabs={tabs}
        open={tab.name}
        onOpen={(name) => show({ tab: name, window: null })}
      >
        {tab.name === 'leaderboard' && (
          <LeaderboardTab
            {...counted}
            kind={(KINDS.find(({ value }) => value === query.kind) ?? KINDS[0]!).value}
            onKind={(kind) => show({ kind })}
          />
        )}
        {tab.name === 'eval' && (
          <EvalTab
            {...counted}
            metric={(METRICS.find(({ value }) => value === query.metric) ?? METRICS[0]!).value}
            onMetric={(metric) => show({ metric })}
          />
        )}
        {tab.name === 'own' && <OwnEvalTab {...counted} />}
        {tab.name === 'verdict' && <VerdictTab {...counted} />}
      </Tabs>
    </>
  );
}

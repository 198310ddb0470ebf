/** The backtest view. */
import { ViewHead } from '../../parts/view-head.tsx';

export function BacktestView() {
  return <ViewHead title="Backtest" />;
}

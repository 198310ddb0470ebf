/** The market view. */
import { ViewHead } from '../../parts/view-head.tsx';

export function MarketView() {
  return <ViewHead title="Market" />;
}

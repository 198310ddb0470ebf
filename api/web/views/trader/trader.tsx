/** The trader view. */
import { ViewHead } from '../../parts/view-head.tsx';

export function TraderView() {
  return <ViewHead title="Trader" />;
}

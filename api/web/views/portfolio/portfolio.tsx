/** The portfolio view. */
import { ViewHead } from '../../parts/view-head.tsx';

export function PortfolioView() {
  return <ViewHead title="Portfolio" />;
}

/** The boards view. */
import { ViewHead } from '../../parts/view-head.tsx';

export function BoardsView() {
  return <ViewHead title="Boards" />;
}

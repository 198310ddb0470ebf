/** The time of a board, and the button that asks for it again. */
import { When } from '../../parts/when.tsx';

export function BoardState({ asOf, onRefresh }: { asOf: string; onRefresh(): void }) {
  return (
    <p class="board-state hint">
      As of <When iso={asOf} as="seconds" />
      <button type="button" class="button quiet" onClick={onRefresh}>
        Refresh
      </button>
    </p>
  );
}

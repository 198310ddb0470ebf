/** The trader in a row of a board. */
import { Name } from '../../parts/name.tsx';
import { ownId } from '../../state/own-id.ts';
import { hrefOf } from '../../state/route-text.ts';
import { traderName } from '../../state/trader-name.ts';

type Props = { traderId: string; displayName: string | null };

export function TraderLink({ traderId, displayName }: Props) {
  return (
    <>
      <a href={hrefOf('trader', traderId)}>
        <Name text={traderName({ id: traderId, displayName })} />
      </a>{' '}
      {ownId.value === traderId && <span class="badge">You</span>}
    </>
  );
}

/** Fetches the next page of a list. */
import { SteadyButton } from './steady-button.tsx';

type Props = {
  /** `more traders` */
  what: string;
  /** Whether it is on its way. */
  isComing?: boolean;
  onMore(): void;
};

export function MoreButton({ what, isComing = false, onMore }: Props) {
  return (
    <div>
      <SteadyButton isOff={isComing} onPress={onMore}>
        {isComing ? 'Loading' : 'Show'} {what}
      </SteadyButton>
    </div>
  );
}

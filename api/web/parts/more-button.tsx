/** Fetches the next page of a list. */

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
      <button type="button" class="button" disabled={isComing} onClick={onMore}>
        {isComing ? 'Loading' : 'Show'} {what}
      </button>
    </div>
  );
}

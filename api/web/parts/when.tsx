/** A moment in the browser's own zone; its title has the date and the zone. */
import { clock } from '../state/format.ts';

type Props = {
  iso: string;
  /** `moment` leaves the date of today out. */
  as?: 'moment' | 'time' | 'seconds' | 'date';
};

export function When({ iso, as = 'moment' }: Props) {
  const text = as === 'moment' ? clock.moment(iso, Date.now()) : clock[as](iso);
  return (
    <time dateTime={iso} title={`${clock.full(iso)} (${iso})`}>
      {text}
    </time>
  );
}

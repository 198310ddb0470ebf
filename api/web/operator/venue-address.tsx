/** Where a venue is asked: the cell that names a row of feeds and of discovery. */

type Props = { venue: string; adapter: string; url: string };

export function VenueAddress({ venue, adapter, url }: Props) {
  return (
    <span class="two-lines">
      <span>
        {venue} <span class="hint">{adapter}</span>
      </span>
      <code>{url}</code>
    </span>
  );
}

/** Rows in pages: the loaded ones, and a button for the next ones. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Empty, Refusal } from '../parts/notice.tsx';
import { SteadyButton } from '../parts/steady-button.tsx';
import { type Column, Table } from '../parts/table.tsx';
import type { Rows } from '../state/loaded.ts';

type Props<Row> = {
  caption: string;
  /** The name of the rows: `users`. */
  name: string;
  columns: readonly Column<Row>[];
  of: Rows<Row>;
  /** In place of rows. */
  empty: ComponentChildren;
  more(cursor: string): Promise<void>;
};

export function Pages<Row extends { id: string }>(props: Props<Row>) {
  const { caption, name, columns, of, empty, more } = props;
  const [isSent, setSent] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { rows, nextCursor } = of;
  const next = async () => {
    setSent(true);
    setError(null);
    await more(nextCursor!).catch(setError);
    setSent(false);
  };
  return (
    <>
      {/* A page of a search may have no row while a further one has. */}
      {rows.length === 0 && nextCursor === null ? (
        <Empty>{empty}</Empty>
      ) : (
        <Table caption={caption} columns={columns} rows={rows} keyOf={({ id }) => id} />
      )}
      {error !== null && <Refusal error={error} />}
      {nextCursor !== null && (
        <p>
          <SteadyButton isOff={isSent} onPress={() => void next()}>
            Show more {name}
          </SteadyButton>
        </p>
      )}
    </>
  );
}

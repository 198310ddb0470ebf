/** A table that scrolls within itself where the screen is narrow. */
import type { ComponentChildren } from 'preact';

export type Column<Row> = {
  head: ComponentChildren;
  cell(row: Row): ComponentChildren;
  /** Numbers are aligned right. */
  isNumber?: boolean;
  /** Names the row. */
  isHead?: boolean;
  /** Shown only if there is room. On a narrow screen another cell has its value. */
  isWide?: boolean;
};

type Props<Row> = {
  /** The name of the rows; read aloud, and shown if `isCaptionShown`. */
  caption: string;
  isCaptionShown?: boolean;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
};

export function Table<Row>({ caption, isCaptionShown = false, columns, rows, keyOf }: Props<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a section of the page is more than a table
    <div class="table-scroll" role="region" aria-label={caption} tabIndex={0}>
      <table class="table">
        <caption class={isCaptionShown ? '' : 'sr'}>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={at} scope="col" class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column, at) =>
                column.isHead ? (
                  <th key={at} scope="row" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={at} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf<Row>({ isNumber = false, isWide = false }: Column<Row>): string {
  return [...(isNumber ? ['is-number'] : []), ...(isWide ? ['only-wide'] : [])].join(' ');
}

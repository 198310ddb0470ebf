/** A table that scrolls within itself where the screen is narrow. */
import type { ComponentChildren } from 'preact';

export type Column<Row> = {
  head: ComponentChildren;
  cell(row: Row): ComponentChildren;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** Names the row. */
  isHead?: boolean;
};

type Props<Row> = {
  /** What the rows are; read aloud, and shown where `isCaptionShown`. */
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
            {columns.map(({ head, isNumber }, at) => (
              <th key={at} scope="col" class={isNumber ? 'is-number' : ''}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ cell, isNumber, isHead }, at) =>
                isHead ? (
                  <th key={at} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={at} class={isNumber ? 'is-number' : ''}>
                    {cell(row)}
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

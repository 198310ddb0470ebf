/** What we use of cliui, which brings no types. */
declare module 'cliui' {
  type Column = {
    text: string;
    /** With its padding. */
    width: number;
    align?: 'left' | 'right';
    /** Top, right, bottom, left. */
    padding?: number[];
  };
  function cliui(options: { width: number }): {
    /** Adds a line of columns. */
    div(...columns: Column[]): void;
    /** The lines, without blanks at their ends. */
    toString(): string;
  };

  // biome-ignore lint/style/noDefaultExport: it is cliui's.
  export { cliui as default };
}

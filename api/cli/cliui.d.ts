/** The parts of cliui in use; the package has no types. */
declare module 'cliui' {
  type Column = {
    text: string;
    /** Including its padding. */
    width: number;
    align?: 'left' | 'right';
    /** Top, right, bottom, left. */
    padding?: number[];
  };
  function cliui(options: { width: number }): {
    /** Adds a line of columns. */
    div(...columns: Column[]): void;
    /** The lines, without trailing blanks. */
    toString(): string;
  };

  // biome-ignore lint/style/noDefaultExport: cliui exports it this way.
  export { cliui as default };
}

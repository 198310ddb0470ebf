/** Gives the person a file that the page has made. */

const GONE_AFTER_MS = 60_000;

/** @param name of the file */
export function giveFile(name: string, type: string, parts: string[]): void {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(address), GONE_AFTER_MS);
}

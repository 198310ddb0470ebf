/**
 * JSON text made of parts. Orders, positions and trades are written as text directly. An object and
 * its `JSON.stringify` take half as long again, and every order would wait for it.
 */

/** A word, an id or a time, of which nothing needs escaping; or null. */
export function wordText(word: string | null): string {
  return word === null ? 'null' : `"${word}"`;
}

/** A list of texts. */
export function listText(texts: readonly string[]): string {
  return `[${texts.join()}]`;
}

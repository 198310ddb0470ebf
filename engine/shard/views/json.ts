/**
 * JSON text made of parts. What every order, position and trade is shown by is written as text at
 * once: an object and its `JSON.stringify` take half as long again, and every order waits for it.
 */

/** A word, an id or a time, of which nothing needs escaping; or null. */
export function wordText(word: string | null): string {
  return word === null ? 'null' : `"${word}"`;
}

/** A list of texts. */
export function listText(texts: readonly string[]): string {
  return `[${texts.join()}]`;
}

/**
 * Finds keys that occur twice in one object of a JSON text. `JSON.parse` silently keeps the last
 * one. Rule A8 (api/RULES.md).
 */

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * The first key that occurs twice in one object, at any depth; null: none does. Escaped keys are
 * compared decoded. `value` is the result of `JSON.parse` on `text`. If no key was lost, it has as
 * many keys as the text. So valid bodies are only counted and not scanned a second time.
 */
export function repeatedKey(text: string, value: object): string | null {
  return keysWritten(text) === keysKept(value) ? null : firstRepeated(text);
}

/** In JSON each key is followed by one colon, and every other colon is inside a string. */
function keysWritten(text: string): number {
  let keys = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) at++;
    else if (unit === QUOTE) isInString = !isInString;
    else if (unit === COLON && !isInString) keys++;
  }
  return keys;
}

/** A loop, since a body can be nested deeper than the stack allows. */
function keysKept(root: object): number {
  let keys = 0;
  const left: object[] = [root];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    const isList = Array.isArray(value);
    for (const key in value) {
      if (!isList) keys++;
      const inside: unknown = value[key as keyof object];
      if (typeof inside === 'object' && inside !== null) left.push(inside);
    }
  }
  return keys;
}

/** Strings, each with the colon that makes it a key, and ends of objects and arrays. */
const TOKENS = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:?)|[{}[\]]/g;

function firstRepeated(text: string): string | null {
  const open: Set<string>[] = [];
  for (const [token, string, colon] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (string === undefined) open.pop();
    else if (colon === ':') {
      const key: string = JSON.parse(string);
      const keys = open.at(-1)!;
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return null;
}

/**
 * Keys that stand twice in one object of a JSON text, of which `JSON.parse` keeps the last without
 * a word. Rule A8 (api/RULES.md).
 */

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * The first key that stands twice in one object, at any depth; null: none does. An escaped key is the
 * key that it stands for. `value` is what `JSON.parse` made of `text`: it has as many keys as the text
 * where none is lost, so that good bodies are counted and not read twice.
 */
export function repeatedKey(text: string, value: object): string | null {
  return keysWritten(text) === keysKept(value) ? null : firstRepeated(text);
}

/** In JSON each key has one colon behind it, and every other colon stands in a string. */
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

/** A loop, as a body can be nested deeper than the stack is. */
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

/** Strings, each with the colon that makes it a key, and the ends of objects and arrays. */
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

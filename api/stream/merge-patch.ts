/** The difference of two JSON objects as a merge patch. RFC 7396. */
import { isDeepStrictEqual } from 'node:util';

export type JsonObject = { [name: string]: unknown };

/**
 * The patch from `before` to `after`: members that changed, and null for those that are gone.
 * Arrays are whole, as the RFC has it. A member that is null cannot be distinguished from a missing
 * one.
 */
export function mergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const [name, value] of Object.entries(after)) {
    const old = before[name];
    if (isObject(old) && isObject(value)) {
      const inner = mergePatch(old, value);
      if (Object.keys(inner).length > 0) patch[name] = inner;
    } else if (!isSame(old, value)) patch[name] = value;
  }
  for (const name of Object.keys(before)) if (!(name in after)) patch[name] = null;
  return patch;
}

function isSame(a: unknown, b: unknown): boolean {
  return typeof a === 'object' ? isDeepStrictEqual(a, b) : a === b;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

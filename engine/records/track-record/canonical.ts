/**
 * JSON in the only form that RFC 8785 allows for a value, so that equal values have equal bytes.
 */
import canonicalize from 'canonicalize';
import { invariant } from '../../base/invariant.ts';

/** Throws if a value has no such form: a number that is not finite, a lone surrogate. */
export function canonicalJson(value: object): string {
  const text = canonicalize(value);
  invariant(text !== undefined, 'a value without a form in JSON is to be signed or hashed');
  return text;
}

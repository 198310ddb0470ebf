/** Which field of a form a refusal is about. */
import { CallError } from './call-error.ts';

/**
 * What is wrong with a field, in a sentence; null: the refusal is not about it.
 *
 * @param name by which the API calls it: a message about it begins with that
 * @param label what the form calls it: `The name`
 */
export function fieldFault(error: unknown, name: string, label: string): string | null {
  if (!(error instanceof CallError) || error.status !== 400) return null;
  const { message } = error;
  // A sentence begins with a capital here, and a name of the API does not.
  const begins = message.slice(0, name.length).toLowerCase() === name.toLowerCase();
  return begins && !/\w/.test(message.charAt(name.length))
    ? label + message.slice(name.length)
    : null;
}

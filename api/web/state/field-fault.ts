/** Which field of a form a refusal is about. */
import { CallError } from './call-error.ts';

/**
 * The problem of a field, in a sentence; null: the refusal is not about it.
 *
 * @param name the field's name in the API, which begins a message about it @param label the form's
 * name of it: `The name`
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

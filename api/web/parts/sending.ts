/** A form during its request: whether it is being sent, and its refusal. */
import { useState } from 'preact/hooks';

type Sending = { isSent: boolean; error: unknown; send(event: Event): Promise<void> };

/** @param run rejects if it is refused */
export function useSending(run: () => Promise<void>): Sending {
  const [isSent, setSent] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const send = async (event: Event) => {
    event.preventDefault();
    setSent(true);
    setError(null);
    try {
      await run();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setSent(false);
    }
  };
  return { isSent, error, send };
}

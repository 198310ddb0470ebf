/** How often the view asks again, by the limits of the caller. */
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../state/calls.ts';
import { paceMs } from '../../state/request-limits.ts';
import { isVisitor } from '../../state/visitor.ts';

const SLOWEST_MS = 10_000;
/** The preview, and the levels. */
const ASKERS = 2;

/** Asking for the limits counts towards none. */
export function usePaceMs(): number {
  const [everyMs, setEveryMs] = useState(SLOWEST_MS);
  useEffect(() => {
    if (isVisitor.peek()) return;
    // Without an answer it stays slow.
    call('getUsage').then(
      (usage) => setEveryMs(paceMs(usage, ASKERS)),
      () => undefined,
    );
  }, []);
  return everyMs;
}

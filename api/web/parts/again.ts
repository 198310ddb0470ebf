/** Requests that are repeated while the page is visible. */
import { useEffect, useRef } from 'preact/hooks';

/**
 * Runs at once, and again so long after each end, while the page is visible.
 *
 * @param of the subject of the request; another one begins again @param everyMs null: not at all
 */
export function useAgain(of: string, everyMs: number | null, run: () => Promise<void>): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (everyMs === null) return;
    let timer: number | undefined;
    let isRunning = false;
    let isGone = false;
    const next = async () => {
      if (isRunning || isGone || document.visibilityState !== 'visible') return;
      isRunning = true;
      await latest.current();
      isRunning = false;
      if (!isGone) timer = setTimeout(next, everyMs);
    };
    // Once it is visible again.
    const onVisible = () => {
      clearTimeout(timer);
      void next();
    };
    document.addEventListener('visibilitychange', onVisible);
    void next();
    return () => {
      isGone = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [of, everyMs]);
}

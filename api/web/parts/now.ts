/** The time, for values that are shown in relation to it. */
import { useEffect, useState } from 'preact/hooks';

/** This machine's time; the component is drawn again at this interval. */
export function useNow(everyMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}

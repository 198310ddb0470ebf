/** Whether an element is on the screen, or close to it. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const MARGIN = '200px';

export function useOnScreen(element: RefObject<Element | null>): boolean {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => setShown(entries.at(-1)!.isIntersecting),
      { rootMargin: MARGIN },
    );
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [element]);
  return isShown;
}

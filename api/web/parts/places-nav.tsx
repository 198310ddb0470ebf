/** Links to the views in a line, which scrolls where it is wider than the screen. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** @param here the current one, which is never out of sight */
export function PlacesNav({
  here,
  children,
}: {
  here: string | null;
  children: ComponentChildren;
}) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    nav
      .current!.querySelector('[aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [here]);
  return (
    <nav ref={nav} class="places" aria-label="Views">
      {children}
    </nav>
  );
}

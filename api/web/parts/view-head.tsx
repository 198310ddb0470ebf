/**
 * The heading of a view: it names the document, and takes the focus as the view opens. Rule U59
 * (api/RULES.md).
 */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** @param children the content beside the heading */
export function ViewHead({ title, children }: { title: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // A heading that is seen has its title, and the focus.
  useLayoutEffect(() => {
    document.title = `${title} · Paperbook`;
  }, [title]);
  useLayoutEffect(() => {
    // Of the first view a reader begins at the top.
    if (hasOpened) heading.current?.focus({ preventScroll: true });
    hasOpened = true;
  }, []);
  return (
    <div class="view-head">
      <h1 ref={heading} tabIndex={-1} title={title}>
        {title}
      </h1>
      {children}
    </div>
  );
}

let hasOpened = false;

/** Tabs, of which one is open: arrow keys go from one to the next. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

type Props<Name extends string> = {
  /** The subject of the tabs. */
  label: string;
  tabs: readonly { name: Name; text: string }[];
  open: Name;
  onOpen(name: Name): void;
  /** The content of the open one. */
  children: ComponentChildren;
};

export function Tabs<Name extends string>({ label, tabs, open, onOpen, children }: Props<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  // On a phone it may be beyond the edge.
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-selected="true"]');
    tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [open]);
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ name }) => name === open);
    const next = (at + step + tabs.length) % tabs.length;
    onOpen(tabs[next]!.name);
    list.current?.querySelectorAll<HTMLButtonElement>('[role="tab"]')[next]?.focus();
  };
  return (
    <div class="tabs">
      <div ref={list} class="tab-list" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(({ name, text }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === open}
            aria-controls={`${id}-panel`}
            tabIndex={name === open ? 0 : -1}
            onClick={() => onOpen(name)}
          >
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${open}`}>
        {children}
      </div>
    </div>
  );
}

/**
 * A button that keeps the focus while no press counts. A disabled button loses the focus, and a
 * person at the keyboard loses the place. Rule A244 (api/RULES.md).
 */
import type { ComponentChildren } from 'preact';

type Props = {
  type?: 'button' | 'submit';
  class?: string;
  /** No press counts: its work is under way, or something is missing. */
  isOff: boolean;
  onPress?(): void;
  'aria-describedby'?: string;
  children: ComponentChildren;
};

export function SteadyButton({ isOff, onPress, children, ...attributes }: Props) {
  const press = (event: Event) => {
    // Enter in a field of a form is such a press, too.
    if (isOff) event.preventDefault();
    else onPress?.();
  };
  return (
    <button type="button" class="button" {...attributes} aria-disabled={isOff} onClick={press}>
      {children}
    </button>
  );
}

/** A choice that is on or off, with its meaning. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

type Props = {
  type: 'radio' | 'checkbox';
  /** Radios of one name are one choice. */
  name: string;
  label: string;
  isOn: boolean;
  onPick(): void;
  disabled?: boolean;
  /** Its meaning, in small letters below. */
  children: ComponentChildren;
};

export function ExplainedChoice({
  type,
  name,
  label,
  isOn,
  onPick,
  disabled = false,
  children,
}: Props) {
  const id = useId();
  return (
    <div class="option">
      <input
        id={id}
        type={type}
        name={name}
        checked={isOn}
        disabled={disabled}
        aria-describedby={`${id}-hint`}
        onChange={onPick}
      />
      <div>
        <label for={id}>{label}</label>
        <p class="hint" id={`${id}-hint`}>
          {children}
        </p>
      </div>
    </div>
  );
}

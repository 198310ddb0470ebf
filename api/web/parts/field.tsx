/** Fields of forms: a label, a hint, and the problem of the value. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

type Frame = {
  label: string;
  /** A hint to the expected value. */
  hint?: string | undefined;
  /** The problem of the value. */
  error?: string | null | undefined;
};
type Described = { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true };

/** `children` is the control, which takes the attributes that it gets. */
export function Field({
  label,
  hint,
  error = null,
  children,
}: Frame & { children(control: Described): ComponentChildren }) {
  const id = useId();
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(error === null ? [] : [`${id}-error`]),
  ].join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described === '' ? {} : { 'aria-describedby': described }),
        ...(error === null ? {} : { 'aria-invalid': true }),
      })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== null && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

type TextProps = Frame & {
  value: string;
  onText(text: string): void;
  type?: 'text' | 'email' | 'password' | 'search' | 'number' | 'date' | 'datetime-local';
  name?: string;
  autocomplete?: string;
  placeholder?: string;
  inputMode?: 'numeric' | 'decimal';
  required?: boolean;
  disabled?: boolean;
  minLength?: number | undefined;
  maxLength?: number;
  min?: number | string;
  max?: number | string;
  step?: number | 'any';
};

export function TextField({ label, hint, error, onText, type = 'text', ...input }: TextProps) {
  // The types of attributes know only one type of control at a time.
  const attributes: object = { type, ...input };
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          {...attributes}
          {...control}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      )}
    </Field>
  );
}

type SelectProps<Value extends string> = Frame & {
  value: Value;
  options: readonly { value: Value; text: string }[];
  onPick(value: Value): void;
  name?: string;
  disabled?: boolean;
};

export function SelectField<Value extends string>({
  label,
  hint,
  error,
  options,
  onPick,
  ...select
}: SelectProps<Value>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <select
          {...select}
          {...control}
          onChange={({ currentTarget }) => onPick(currentTarget.value as Value)}
        >
          {options.map((one) => (
            <option key={one.value} value={one.value}>
              {one.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

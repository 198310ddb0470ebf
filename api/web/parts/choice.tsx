/** One of a few, side by side: radio buttons of the browser. */
import { useId } from 'preact/hooks';

type Props<Value extends string> = {
  /** The chosen value. */
  label: string;
  isLabelShown?: boolean;
  value: Value;
  options: readonly {
    value: Value;
    text: string;
    /** Read aloud in place of a text that is a symbol. */
    spoken?: string;
    disabled?: boolean;
    /** The side of a market, in its color. */
    kind?: 'yes' | 'no';
  }[];
  onPick(value: Value): void;
};

export function Choice<Value extends string>({
  label,
  isLabelShown = true,
  value,
  options,
  onPick,
}: Props<Value>) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class={isLabelShown ? '' : 'sr'}>{label}</legend>
      <div class="choice-row">
        {options.map((one) => (
          <label key={one.value} class={one.kind === undefined ? '' : `is-${one.kind}`}>
            <input
              type="radio"
              name={name}
              checked={one.value === value}
              disabled={one.disabled ?? false}
              aria-label={one.spoken}
              onChange={() => onPick(one.value)}
            />
            <span>{one.text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

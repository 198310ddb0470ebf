/** What a board counts: its window, one of a few or any number of days, and which fills. */
import { useEffect, useState } from 'preact/hooks';
import { SelectField, TextField } from '../../parts/field.tsx';
import type { Fills } from '../../state/score-text.ts';
import { FILLS, FILLS_HINT, windowOfDays, windowText } from './board-words.ts';

const WINDOWS = ['1d', '7d', '30d', '90d', 'all'];
const OTHER = 'other';

/** What a board counts, and how that changes. */
export type Counted = {
  window: string;
  fills: Fills;
  onWindow(window: string): void;
  onFills(fills: Fills): void;
};

type Props = { window: string; onPick(window: string): void };
type FillsProps = { fills: Fills; onPick(fills: Fills): void };

export function FillsField({ fills, onPick }: FillsProps) {
  return <SelectField label="Trades" value={fills} options={FILLS} onPick={onPick} />;
}

/** Nothing while all fills count. */
export function FillsHint({ fills }: Pick<FillsProps, 'fills'>) {
  return fills === 'all' ? null : <p class="hint">{FILLS_HINT}</p>;
}

export function WindowField({ window, onPick }: Props) {
  const [picksOther, setPicksOther] = useState(false);
  const [days, setDays] = useState('');
  const isOther = picksOther || !WINDOWS.includes(window);
  const typed = windowOfDays(days);
  useEffect(() => {
    if (window !== 'all') setDays(window.slice(0, -1));
  }, [window]);
  const pick = (value: string) => {
    setPicksOther(value === OTHER);
    if (value !== OTHER) onPick(value);
  };
  const type = (text: string) => {
    setDays(text);
    const found = windowOfDays(text);
    if ('window' in found) onPick(found.window);
  };
  return (
    <>
      <SelectField
        label="Window"
        value={isOther ? OTHER : window}
        options={[
          ...WINDOWS.map((value) => ({ value, text: windowText(value) })),
          { value: OTHER, text: 'Another number of days' },
        ]}
        onPick={pick}
      />
      {isOther && (
        <TextField
          label="Days"
          inputMode="numeric"
          value={days}
          error={'error' in typed ? typed.error : null}
          onText={type}
        />
      )}
    </>
  );
}

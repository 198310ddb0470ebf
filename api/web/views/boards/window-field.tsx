/** The window of a board: one of a few, or any number of days. */
import { useEffect, useState } from 'preact/hooks';
import { SelectField, TextField } from '../../parts/field.tsx';
import { windowOfDays, windowText } from './board-words.ts';

const WINDOWS = ['1d', '7d', '30d', '90d', 'all'];
const OTHER = 'other';

type Props = { window: string; onPick(window: string): void };

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

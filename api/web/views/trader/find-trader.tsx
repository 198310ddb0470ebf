/** Goes to a trader's page by name or id. */
import { useState } from 'preact/hooks';
import { TextField } from '../../parts/field.tsx';
import { go } from '../../state/route.ts';
import { hrefOf } from '../../state/route-text.ts';

const CHARACTERS_MIN = 2;

export function FindTrader() {
  const [name, setName] = useState('');
  const [error, setError] = useState<string | null>(null);
  const find = (event: Event) => {
    event.preventDefault();
    const asked = name.trim();
    if (asked.length < CHARACTERS_MIN) {
      setError(`A name of ${CHARACTERS_MIN} characters or more, or an id.`);
    } else go(hrefOf('trader', asked));
  };
  return (
    <search>
      <form class="find-trader" noValidate onSubmit={find}>
        <TextField
          label="Find a trader"
          type="search"
          placeholder="The whole name, or an id"
          maxLength={100}
          value={name}
          error={error}
          onText={(text) => {
            setName(text);
            setError(null);
          }}
        />
        <button type="submit" class="button">
          Show
        </button>
      </form>
    </search>
  );
}

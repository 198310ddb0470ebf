/**
 * A field whose value is found by words, and picked from the matches. What was found is read aloud, and
 * the focus returns to the field. Rules A245, A261 (api/RULES.md).
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { TextField } from '../parts/field.tsx';
import { FoundCount } from '../parts/found-count.tsx';
import { problemOf } from '../state/problems.ts';

/** `text` names it for a person, `detail` tells it from others. */
type Match = { value: string; text: string; detail: string };

type Props = {
  label: string;
  hint: string;
  maxLength: number;
  /** What was typed, or the value of the match that was picked. */
  value: string;
  onValue(value: string): void;
  /** The best matches. It is one function from call to call. */
  find(words: string): Promise<readonly Match[]>;
};

const TYPED_FOR_MS = 200;
/** Longer words name nothing that a search finds. */
const WORDS_MAX = 100;

export function Picker({ label, hint, maxLength, value, onValue, find }: Props) {
  const field = useRef<HTMLDivElement>(null);
  /** Null: nobody has asked, or the answer is on its way. */
  const [matches, setMatches] = useState<readonly Match[] | null>(null);
  const [picked, setPicked] = useState<Match | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const words = value.trim();
  const isPicked = picked !== null && picked.value === words;
  useEffect(() => {
    setProblem(null);
    if (isPicked || words === '' || words.length > WORDS_MAX) return setMatches(null);
    let isOver = false;
    const timer = setTimeout(async () => {
      try {
        const found = await find(words);
        if (!isOver) setMatches(found);
      } catch (error) {
        if (!isOver) setProblem(problemOf(error).sentence);
      }
    }, TYPED_FOR_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [words, isPicked, find]);
  const pick = (match: Match) => {
    setPicked(match);
    onValue(match.value);
    // The button that was pressed goes. The hint of the field, which is read with it, names the match.
    field.current?.querySelector('input')?.focus();
  };
  return (
    <div class="picker" ref={field}>
      <TextField
        label={label}
        required
        maxLength={maxLength}
        hint={isPicked ? picked.text : hint}
        error={problem}
        value={value}
        autocomplete="off"
        onText={onValue}
      />
      <FoundCount count={matches?.length ?? null} one={label.toLowerCase()} />
      {matches?.length === 0 && <p class="hint">No {label.toLowerCase()} has these words.</p>}
      {matches !== null && matches.length > 0 && (
        <ul class="picks" aria-label={`${label}, matches`}>
          {matches.map((match) => (
            <li key={match.value}>
              <button type="button" class="button quiet pick" onClick={() => pick(match)}>
                <span>{match.text}</span> <span class="hint">{match.detail}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

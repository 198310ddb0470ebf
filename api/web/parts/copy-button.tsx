/** Copies a text, and says so. */
import { useState } from 'preact/hooks';
import { report } from '../state/problems.ts';

/** @param of the copied thing: `the key` */
export function CopyButton({ text, of }: { text: string; of: string }) {
  const canCopy = 'clipboard' in navigator;
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true), report);
  // Over plain HTTP a browser lets no page copy: the text is there to be selected.
  if (!canCopy) return null;
  return (
    <button type="button" class="button" onClick={copy} onBlur={() => setCopied(false)}>
      <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
      <span class="sr"> {of}</span>
    </button>
  );
}

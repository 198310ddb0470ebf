/** Copies a text, and says so. */
import { useState } from 'preact/hooks';
import { report } from '../state/problems.ts';

/** @param of what is copied: `the key` */
export function CopyButton({ text, of }: { text: string; of: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true), report);
  return (
    <button type="button" class="button" onClick={copy} onBlur={() => setCopied(false)}>
      <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
      <span class="sr"> {of}</span>
    </button>
  );
}

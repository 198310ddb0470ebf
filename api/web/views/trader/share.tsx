/**
 * Gives others the link to a trader: by the device's own sharing, or copied. Rule A253
 * (api/RULES.md).
 */
import { useState } from 'preact/hooks';
import type { Trader } from '../../../client/generated.js';
import { report } from '../../state/problems.ts';
import { BASE } from '../../state/request.ts';
import { traderName } from '../../state/trader-name.ts';

type Outcome = 'none' | 'copied' | 'shown';

export function Share({ of: found }: { of: Trader }) {
  const [outcome, setOutcome] = useState<Outcome>('none');
  // By the id, which stays as the name changes.
  const url = new URL(`t/${found.id}`, BASE).href;
  const share = async () => {
    if ('share' in navigator) {
      await navigator.share({ title: `${traderName(found)} on Paperbook`, url });
    } else if ('clipboard' in navigator) {
      await (navigator as Navigator).clipboard.writeText(url);
      setOutcome('copied');
    } else setOutcome('shown');
  };
  const ask = () => share().catch(reportUnlessLeft);
  return (
    <span class="share">
      <button type="button" class="button" onClick={() => void ask()}>
        Share
      </button>
      <span role="status">
        {outcome === 'copied' && 'The link is copied.'}
        {/* Over plain HTTP a browser lets no page copy: the link is there to be selected. */}
        {outcome === 'shown' && <code>{url}</code>}
      </span>
    </span>
  );
}

/** Whoever closes the device's dialog has changed their mind. */
function reportUnlessLeft(error: unknown): void {
  if (!(error instanceof DOMException && error.name === 'AbortError')) report(error);
}

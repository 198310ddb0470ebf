/** A new key, for as long as its dialog is open. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Notice } from '../../parts/notice.tsx';

export function TokenShown({ token }: { token: string }) {
  const shown = useRef<HTMLElement>(null);
  // The button that was pressed is gone.
  useLayoutEffect(() => shown.current?.focus(), []);
  return (
    <div class="form">
      <Notice kind="warning">
        <p role="status">
          Copy it now. It is shown this once: the server keeps no copy, and when this dialog closes
          it is gone.
        </p>
      </Notice>
      <p class="token">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is read and selected next */}
        <code ref={shown} tabIndex={0}>
          {token}
        </code>
        <CopyButton text={token} of="the key" />
      </p>
      <p class="hint">
        Send it as <code>Authorization: Bearer …</code> or <code>x-service-key</code>, never as a
        part of an address. Anyone with this key can use its scopes.
      </p>
      <p class="buttons">
        <button
          type="button"
          class="button primary"
          onClick={({ currentTarget }) => currentTarget.closest('dialog')?.close()}
        >
          I have copied it
        </button>
      </p>
    </div>
  );
}

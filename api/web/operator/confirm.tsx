/** A dialog that says what will happen, and does it once the operator agrees. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { Refusal } from '../parts/notice.tsx';

type Props = {
  title: string;
  /** What the button does: `Turn off`. */
  action: string;
  onConfirm(): Promise<void>;
  onClose(): void;
  children: ComponentChildren;
};

export function Confirm({ title, action, onConfirm, onClose, children }: Props) {
  const [isSent, setSent] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const confirm = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setSent(true);
    setError(null);
    try {
      await onConfirm();
      // The dialog itself, which gives the focus back.
      form.closest('dialog')?.close();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setSent(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="form" onSubmit={confirm}>
        {children}
        {error !== null && <Refusal error={error} />}
        <button type="submit" class="button primary" disabled={isSent}>
          {action}
        </button>
      </form>
    </Dialog>
  );
}

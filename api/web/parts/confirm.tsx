/** Asks before an action that cannot be undone. It closes once that is done. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { Refusal } from './notice.tsx';
import { useSending } from './sending.ts';
import { SteadyButton } from './steady-button.tsx';

type Props = {
  title: string;
  /** The button's action: `Cancel 3 orders`. */
  action: string;
  /** Rejects if it is refused, which is then shown. */
  onConfirm(): Promise<void>;
  onClose(): void;
  /** False: something is still missing. */
  isReady?: boolean;
  /** The effect, in sentences. */
  children: ComponentChildren;
};

export function Confirm({ title, action, onConfirm, onClose, isReady = true, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const { isSent, error, send } = useSending(async () => {
    await onConfirm();
    // The dialog itself, which gives the focus back.
    form.current?.closest('dialog')?.close();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={form} class="form" onSubmit={send}>
        {children}
        {error !== null && <Refusal error={error} />}
        <p class="buttons">
          <SteadyButton type="submit" class="button primary" isOff={isSent || !isReady}>
            {action}
          </SteadyButton>
        </p>
      </form>
    </Dialog>
  );
}

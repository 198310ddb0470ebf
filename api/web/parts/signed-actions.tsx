/** What can be done with a signed file: check it in the browser, and download it. */
import type { ComponentChildren } from 'preact';
import { giveFile } from '../state/download.ts';
import { SteadyButton } from './steady-button.tsx';

type Props = {
  what: 'record' | 'receipt';
  signed: object;
  fileName: string;
  isChecking: boolean;
  onVerify(): void;
  /** After the two buttons. */
  children?: ComponentChildren;
};

export function SignedActions({ what, signed, fileName, isChecking, onVerify, children }: Props) {
  const save = () => giveFile(fileName, 'application/json', [`${JSON.stringify(signed)}\n`]);
  return (
    <div class="buttons">
      <SteadyButton class="button primary" isOff={isChecking} onPress={onVerify}>
        Verify
      </SteadyButton>
      <button type="button" class="button" onClick={save}>
        Download the {what}
      </button>
      {children}
    </div>
  );
}

/** A person's settings: name, privacy, keys, sign-ins, a reset; and the used limits. */
import { ViewHead } from '../../parts/view-head.tsx';
import { Keys } from './keys.tsx';
import { Limits } from './limits.tsx';
import { NameAndPrivacy } from './name-and-privacy.tsx';
import { Reset } from './reset.tsx';
import { SignIns } from './sign-ins.tsx';

export function SettingsView() {
  return (
    <>
      <ViewHead title="Settings" />
      <NameAndPrivacy />
      <Keys />
      <Limits />
      <SignIns />
      <Reset />
    </>
  );
}

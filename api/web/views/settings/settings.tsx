/** A person's settings in sections, each at an address of its own. Rule U47 (api/RULES.md). */
import { Tabs } from '../../parts/tabs.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { replace } from '../../state/route.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import { SECTIONS, type Section, sectionOf } from '../../state/settings-words.ts';
import { Keys } from './keys.tsx';
import { Limits } from './limits.tsx';
import { NameAndPrivacy } from './name-and-privacy.tsx';
import { RealismSection } from './realism.tsx';
import { Reset } from './reset.tsx';
import { SignIns } from './sign-ins.tsx';

export function SettingsView({ query }: ViewProps) {
  const open = sectionOf(query.section);
  return (
    <>
      <ViewHead title="Settings" />
      <Tabs<Section>
        label="Settings"
        tabs={SECTIONS}
        open={open}
        onOpen={(section) => replace(hrefOf('settings', '', { section }))}
      >
        {open === 'profile' && <NameAndPrivacy />}
        {open === 'fills' && <RealismSection />}
        {open === 'keys' && (
          <>
            <Keys />
            <Limits />
          </>
        )}
        {open === 'security' && <SignIns />}
        {open === 'account' && <Reset />}
      </Tabs>
    </>
  );
}

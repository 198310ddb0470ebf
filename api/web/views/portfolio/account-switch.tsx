/** Whose account is shown: the own one, or the sandbox of an organization. */

import { useEffect } from 'preact/hooks';
import { SelectField } from '../../parts/field.tsx';
import { Name } from '../../parts/name.tsx';
import { Notice } from '../../parts/notice.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { go } from '../../state/route.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import { loadOrganizations, organizations, SANDBOX_EVERY_MS } from '../../state/shown-account.ts';

/** Not there for who is in no organization. */
export function AccountSwitch({ query }: Pick<ViewProps, 'query'>) {
  useEffect(() => void loadOrganizations(), []);
  const { value: known } = organizations;
  const account = query.org ?? '';
  if (known.state !== 'ready' || known.value.length === 0) return null;
  return (
    <div class="account-switch">
      <SelectField
        label="Account"
        value={account}
        options={[
          { value: '', text: 'Your own' },
          ...known.value.map(({ id, name }) => ({ value: id, text: `Sandbox of ${name}` })),
        ]}
        onPick={(id) => go(hrefOf('portfolio', '', { window: query.window ?? null, org: id }))}
      />
    </div>
  );
}

export function SandboxNotice({ account }: { account: AccountId }) {
  if (account === null) return null;
  const { value: known } = organizations;
  const found = known.state === 'ready' ? known.value.find(({ id }) => id === account) : undefined;
  return (
    <Notice kind="warning">
      <p>
        This is the sandbox of{' '}
        {found === undefined ? 'an organization' : <Name text={found.name} />}, not your own
        account. All of its people trade it together. It is asked for every{' '}
        {SANDBOX_EVERY_MS / 1000} s. <a href={hrefOf('portfolio')}>Show your own account</a>
      </p>
    </Notice>
  );
}

/** Keys for programs: the list, a new key, a rotation, and a revocation. */

import { useEffect, useState } from 'preact/hooks';
import type { KeyView } from '../../../client/generated.js';
import { Confirm } from '../../parts/confirm.tsx';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Name } from '../../parts/name.tsx';
import { Empty } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { whole } from '../../state/format.ts';
import { forgetKeys, keys, loadKeys, revokeKey } from '../../state/keys.ts';
import { KEY_STATUS_WORDS } from '../../state/settings-words.ts';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';

type Open = { what: 'create' } | { what: 'rotate' | 'revoke'; key: KeyView };

export function Keys() {
  const [open, setOpen] = useState<Open | null>(null);
  useEffect(() => {
    void loadKeys();
    return forgetKeys;
  }, []);
  const { value: known } = keys;
  const close = () => setOpen(null);
  return (
    <section class="section">
      <div class="section-head">
        <h2>Keys</h2>
        <button type="button" class="button" onClick={() => setOpen({ what: 'create' })}>
          Create a key
        </button>
      </div>
      <p class="hint">
        A program signs its requests with a key. It reads and trades for you, within its scopes; it
        manages no keys and makes nothing public.
      </p>
      <Loading
        of={known}
        skeleton={<Skeleton lines={3} of="your keys" />}
        again={() => void loadKeys()}
      >
        {({ keys: rows }) =>
          rows.length === 0 ? (
            <Empty>There is no key yet. Create one for a bot, a script or the command line.</Empty>
          ) : (
            <Table
              caption="Keys"
              columns={columnsOf(setOpen)}
              rows={newestFirst(rows)}
              keyOf={({ id }) => id}
            />
          )
        }
      </Loading>
      {open?.what === 'create' && (
        <CreateKeyDialog
          canTrade={known.state === 'ready' && known.value.tradeWriteAvailable}
          onClose={close}
        />
      )}
      {open?.what === 'rotate' && <RotateKeyDialog of={open.key} onClose={close} />}
      {open?.what === 'revoke' && <RevokeDialog of={open.key} onClose={close} />}
    </section>
  );
}

/** Active keys precede ended ones. */
function newestFirst(rows: readonly KeyView[]): readonly KeyView[] {
  const rank = (key: KeyView) => (isWorking(key) ? 1 : 0);
  return rows.toSorted(
    (a, b) => rank(b) - rank(a) || Date.parse(b.createdAt) - Date.parse(a.createdAt),
  );
}

function isWorking({ status }: KeyView): boolean {
  return status === 'active' || status === 'rotating';
}

const columnsOf = (onOpen: (open: Open) => void): readonly Column<KeyView>[] => [
  { head: 'Key', isHead: true, cell: (key) => <Named of={key} /> },
  { head: 'Scopes', isWide: true, cell: ({ scopes }) => <Scopes of={scopes} /> },
  { head: 'Status', cell: ({ status }) => KEY_STATUS_WORDS[status] },
  { head: 'Created', isWide: true, cell: ({ createdAt }) => <When iso={createdAt} /> },
  { head: 'Last used', isWide: true, cell: ({ lastUsedAt }) => <Moment iso={lastUsedAt} /> },
  { head: 'Ends', isWide: true, cell: ({ expiresAt }) => <Moment iso={expiresAt} /> },
  {
    head: <abbr title="Requests this month (UTC)">Requests</abbr>,
    isNumber: true,
    isWide: true,
    cell: ({ requestsThisMonth }) => whole(requestsThisMonth),
  },
  {
    head: <span class="sr">Rotate or revoke</span>,
    isNumber: true,
    cell: (key) => <Actions of={key} onOpen={onOpen} />,
  },
];

function Named({ of: { label, tokenPrefix, scopes, requestsThisMonth } }: { of: KeyView }) {
  return (
    <>
      <Name text={label} />
      <code class="hint prefix">{tokenPrefix}…</code>
      <span class="only-narrow hint">
        {scopes.join(', ')}. {whole(requestsThisMonth)} requests in this month
      </span>
    </>
  );
}

function Scopes({ of }: { of: readonly string[] }) {
  return (
    <ul class="scopes">
      {of.map((scope) => (
        <li key={scope}>{scope}</li>
      ))}
    </ul>
  );
}

function Moment({ iso }: { iso: string | null }) {
  return iso === null ? <>never</> : <When iso={iso} />;
}

function Actions({ of: key, onOpen }: { of: KeyView; onOpen(open: Open): void }) {
  if (!isWorking(key)) return null;
  return (
    <span class="buttons row-buttons">
      {key.status === 'active' && (
        <button type="button" class="button" onClick={() => onOpen({ what: 'rotate', key })}>
          Rotate<span class="sr"> {key.label}</span>
        </button>
      )}
      <button type="button" class="button" onClick={() => onOpen({ what: 'revoke', key })}>
        Revoke<span class="sr"> {key.label}</span>
      </button>
    </span>
  );
}

function RevokeDialog({ of: key, onClose }: { of: KeyView; onClose(): void }) {
  return (
    <Confirm
      title="Revoke this key"
      action="Revoke it"
      onConfirm={() => revokeKey(key.id)}
      onClose={onClose}
    >
      <p>
        “{key.label}”, <code>{key.tokenPrefix}…</code>, stops working at once and forever. Its
        orders stay.
      </p>
    </Confirm>
  );
}

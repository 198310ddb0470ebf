/** Where one is signed in, how that ends, and the password. */
import { useEffect, useState } from 'preact/hooks';
import type { Sessions } from '../../../client/generated.js';
import { Confirm } from '../../parts/confirm.tsx';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Empty } from '../../parts/notice.tsx';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { report } from '../../state/problems.ts';
import { session, signOut } from '../../state/session.ts';
import {
  endOtherSignIns,
  endSignIn,
  forgetSignIns,
  loadSignIns,
  signIns,
} from '../../state/sign-ins.ts';
import { PasswordForm } from './password-form.tsx';

type SignIn = Sessions['sessions'][number];

export function SignIns() {
  const { value: now } = session;
  const email = now.state === 'in' ? now.email : null;
  useEffect(() => {
    void loadSignIns();
    return forgetSignIns;
  }, []);
  return (
    <section class="section">
      <h2>Sign-ins and password</h2>
      {email !== null && <p>You are signed in as {email}.</p>}
      <Loading
        of={signIns.value}
        skeleton={<Skeleton lines={3} of="your sign-ins" />}
        again={() => void loadSignIns()}
      >
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              Another server signs people in to this one. Your sign-ins and your password are there.
            </Empty>
          ) : (
            <>
              <Table caption="Sign-ins" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
              <Ends others={rows.filter(({ current }) => !current).length} />
              <PasswordForm email={email} />
            </>
          )
        }
      </Loading>
    </section>
  );
}

const COLUMNS: readonly Column<SignIn>[] = [
  {
    head: 'Signed in',
    isHead: true,
    cell: ({ createdAt, current }) => (
      <>
        <When iso={createdAt} />
        {current && ', here'}
      </>
    ),
  },
  { head: 'Last used', cell: ({ lastUsedAt }) => <When iso={lastUsedAt} /> },
  {
    head: <span class="sr">End it</span>,
    isNumber: true,
    cell: (one) => (one.current ? null : <End of={one} />),
  },
];

function End({ of: { id, createdAt } }: { of: SignIn }) {
  const [isSent, setSent] = useState(false);
  const end = async () => {
    setSent(true);
    await endSignIn(id).catch(report);
    setSent(false);
  };
  return (
    <SteadyButton isOff={isSent} onPress={() => void end()}>
      End
      <span class="sr">
        {' '}
        the sign-in of <When iso={createdAt} />
      </span>
    </SteadyButton>
  );
}

function Ends({ others }: { others: number }) {
  const [asked, setAsked] = useState<'others' | 'all' | null>(null);
  const close = () => setAsked(null);
  return (
    <>
      <p class="buttons">
        <button type="button" class="button" onClick={() => void signOut()}>
          Sign out here
        </button>
        <button
          type="button"
          class="button"
          disabled={others === 0}
          onClick={() => setAsked('others')}
        >
          Sign out everywhere else
        </button>
        <button type="button" class="button" onClick={() => setAsked('all')}>
          Sign out everywhere
        </button>
      </p>
      {asked === 'others' && (
        <Confirm
          title="Sign out everywhere else"
          action="Sign out there"
          onConfirm={endOtherSignIns}
          onClose={close}
        >
          <p>All sign-ins but this one end at once. Keys go on working.</p>
        </Confirm>
      )}
      {asked === 'all' && (
        <Confirm
          title="Sign out everywhere"
          action="Sign out everywhere"
          onConfirm={() => signOut(true)}
          onClose={close}
        >
          <p>All sign-ins end at once, this one too. Keys go on working.</p>
        </Confirm>
      )}
    </>
  );
}

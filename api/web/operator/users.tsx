/** Everybody with an account, the newest first, and the search. */

import { useEffect, useState } from 'preact/hooks';
import type { User } from '../../schemas/admin-types.ts';
import { TextField } from '../parts/field.tsx';
import { FoundCount } from '../parts/found-count.tsx';
import { Loading, Skeleton } from '../parts/loading.tsx';
import { Name } from '../parts/name.tsx';
import type { Column } from '../parts/table.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { When } from '../parts/when.tsx';
import { Pages } from './pages.tsx';
import { placeHref } from './place-text.ts';
import { moreUsers, users } from './state.ts';

const TYPED_FOR_MS = 200;
const SEARCH_MAX = 254;

export function UsersView() {
  const [typed, setTyped] = useState('');
  const [search, setSearch] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), TYPED_FOR_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => void users.load(search), [search]);
  return (
    <>
      <ViewHead title="Users" />
      <search class="filters">
        <TextField
          label="Search"
          type="search"
          hint="A part of the address or the name, or the whole id."
          maxLength={SEARCH_MAX}
          value={typed}
          onText={setTyped}
        />
      </search>
      <Count search={search} />
      <Loading
        of={users.now.value}
        skeleton={<Skeleton lines={8} of="the users" />}
        again={() => void users.load(search)}
      >
        {(rows) => (
          <Pages
            caption="Users, newest first"
            name="users"
            columns={COLUMNS}
            of={rows}
            empty={
              search === ''
                ? 'There are no users yet. Each new user appears here.'
                : `No user is called “${search}”. Try a shorter part of the address.`
            }
            more={(cursor) => moreUsers(search, cursor)}
          />
        )}
      </Loading>
    </>
  );
}

function Count({ search }: { search: string }) {
  const found = users.of(search);
  if (search === '' || found.state !== 'ready') return <FoundCount count={null} one="user" />;
  const { rows, nextCursor } = found.value;
  return <FoundCount count={rows.length} one="user" hasMore={nextCursor !== null} />;
}

/** Somebody may have no address and no name. */
export function nameOf({ email, displayName, id }: User): string {
  return email ?? displayName ?? id;
}

const COLUMNS: readonly Column<User>[] = [
  {
    head: 'User',
    isHead: true,
    cell: (user) => (
      <a href={placeHref('users', user.id)}>
        <Name text={nameOf(user)} />
      </a>
    ),
  },
  {
    head: 'Name',
    cell: ({ displayName }) =>
      displayName === null ? <span class="hint">none</span> : <Name text={displayName} />,
  },
  { head: 'Plan', cell: ({ plan }) => plan },
  {
    head: 'Limits',
    cell: ({ tradeLimits, requestLimits }) =>
      tradeLimits === null && requestLimits === null ? 'from the plan' : 'its own',
  },
  { head: 'Since', cell: ({ createdAt }) => <When iso={createdAt} /> },
  { head: 'Id', cell: ({ id }) => <code class="id">{id}</code> },
];

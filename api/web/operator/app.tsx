/** The frame of the operator's page: its views, and the way out. */
import type { JSX } from 'preact';
import { FaultBoundary } from '../parts/fault-boundary.tsx';
import { Notice } from '../parts/notice.tsx';
import { PlacesNav } from '../parts/places-nav.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { CorrectionsView } from './corrections.tsx';
import { FeedsView } from './feeds.tsx';
import { PLACES, type PlaceName, placeHref } from './place-text.ts';
import { ProblemsView } from './problems.tsx';
import { ShardsView } from './shards.tsx';
import { TokenView } from './sign-in.tsx';
import { place } from './state.ts';
import { SwitchesView } from './switches.tsx';
import { leave, token } from './token.ts';
import { UserView } from './user.tsx';
import { UsersView } from './users.tsx';

export function OperatorApp() {
  const isIn = token.value !== null;
  const { name, param } = place.value;
  return (
    <div class="app">
      <button type="button" class="button skip" onClick={skip}>
        Skip to the content
      </button>
      <header class="head">
        <a class="brand" href={placeHref('feeds')}>
          Paperbook operator
        </a>
        {isIn && (
          <>
            <button type="button" class="button quiet leave" onClick={() => leave(null)}>
              Forget the token
            </button>
            <Places here={name} />
          </>
        )}
      </header>
      <main id="main" tabIndex={-1}>
        <FaultBoundary key={`${isIn}/${name}/${param}`}>
          <CurrentView />
        </FaultBoundary>
      </main>
      <footer class="foot">
        This page asks only the admin listener of this server. Times are in your time zone.
      </footer>
    </div>
  );
}

/** Not a link: the fragment of the address is the view's. */
function skip(): void {
  document.getElementById('main')!.focus();
}

function Places({ here }: { here: PlaceName | null }) {
  return (
    <PlacesNav here={here}>
      {(Object.entries(PLACES) as [PlaceName, string][]).map(([name, text]) => (
        <a key={name} href={placeHref(name)} aria-current={name === here ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </PlacesNav>
  );
}

const VIEW_OF: Readonly<Record<PlaceName, (param: string) => JSX.Element>> = {
  feeds: () => <FeedsView />,
  shards: () => <ShardsView />,
  problems: () => <ProblemsView />,
  switches: () => <SwitchesView />,
  users: (param) => (param === '' ? <UsersView /> : <UserView id={param} />),
  corrections: () => <CorrectionsView />,
};

function NothingHere() {
  return (
    <Notice>
      <ViewHead title="Nothing is here" />
      <p>
        No view has this address. <a href={placeHref('feeds')}>Go to the feeds</a>
      </p>
    </Notice>
  );
}

/** The sign-in is shown in place of all of them. */
function CurrentView() {
  const { name, param } = place.value;
  if (token.value === null) return <TokenView />;
  return name === null ? <NothingHere /> : VIEW_OF[name](param);
}

/**
 * The frame of the page: where one can go, whether prices are live, who is signed in, and what the
 * account has. Rules A163, U38, U43 (api/RULES.md).
 */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { FaultBoundary } from './parts/fault-boundary.tsx';
import { Funds } from './parts/funds.tsx';
import { LazyView } from './parts/lazy-view.tsx';
import { Skeleton } from './parts/loading.tsx';
import { Notice } from './parts/notice.tsx';
import { useNow } from './parts/now.ts';
import { PlacesNav } from './parts/places-nav.tsx';
import { ViewHead } from './parts/view-head.tsx';
import { When } from './parts/when.tsx';
import { events } from './state/account.ts';
import { connectionWords } from './state/connection-words.ts';
import { connection, lostAtMs } from './state/live.ts';
import { dismiss, problems, report } from './state/problems.ts';
import { hash, replace, route, shownView } from './state/route.ts';
import { hrefOf, signInHref, type ViewName } from './state/route-text.ts';
import { session, signOut } from './state/session.ts';
import { isForVisitors, isVisitor } from './state/visitor.ts';
import { SignInView } from './views/sign-in.tsx';
import { VIEW_OF } from './views.ts';

const PLACES: readonly { view: ViewName; text: string }[] = [
  { view: 'markets', text: 'Markets' },
  { view: 'portfolio', text: 'Portfolio' },
  { view: 'boards', text: 'Boards' },
  { view: 'backtest', text: 'Backtest' },
  { view: 'settings', text: 'Settings' },
];
const PUBLIC_PLACES = PLACES.filter(({ view }) => view === 'markets' || view === 'boards');
/** The place of the navigation for a view without its own. */
const PLACE_OF: Partial<Record<ViewName, ViewName>> = { market: 'markets', trader: 'boards' };

export function App() {
  return (
    <div class="app" data-connection={connection.value.state}>
      <button type="button" class="button skip" onClick={skip}>
        Skip to the content
      </button>
      <Header />
      <main id="main" tabIndex={-1}>
        <Lost />
        <Ended />
        <Problems />
        <FaultBoundary key={`${shownView.value}/${userId()}`}>
          <CurrentView />
        </FaultBoundary>
      </main>
      <Toasts />
      <footer class="foot">
        Paper trading: no order goes to a venue, and no money is real. Times are in your time zone.{' '}
        <a href="docs">API docs</a>
      </footer>
    </div>
  );
}

/** Its code is loaded with the first event. Rule U43. */
function Toasts() {
  const [List, setList] = useState<ComponentType | null>(null);
  const isNeeded = events.value.length > 0;
  useEffect(() => {
    if (!isNeeded || List !== null) return;
    import('./parts/toast-list.tsx').then(({ ToastList }) => setList(() => ToastList), report);
  }, [isNeeded]);
  return List === null ? null : <List key={userId()} />;
}

/** With another person every view begins again. */
function userId(): string | null {
  const { value: now } = session;
  return now.state === 'in' ? now.userId : null;
}

/** Not a link: the fragment of the address is the view's. */
function skip(): void {
  document.getElementById('main')!.focus();
}

function Header() {
  useReturn();
  const isIn = session.value.state === 'in';
  const { view } = route.value;
  const here = view === null ? null : (PLACE_OF[view] ?? view);
  return (
    <header class="head">
      <a class="brand" href={hrefOf('markets')}>
        Paperbook
      </a>
      {isIn && <Funds />}
      {(isIn || isVisitor.value) && <ConnectionState />}
      <Person />
      {isVisitor.value && <SignInLink />}
      <PlacesNav here={here}>
        {isIn && <Places places={PLACES} here={here} />}
        {isVisitor.value && <Places places={PUBLIC_PLACES} here={here} />}
        <a class="docs-link" href="docs">
          API docs
        </a>
      </PlacesNav>
    </header>
  );
}

/** After a sign-in the view that one came from is shown again. */
function useReturn(): void {
  const { view, query } = route.value;
  const isBack = session.value.state === 'in' && view === 'sign-in';
  useEffect(() => {
    if (isBack) replace(`#/${query.back ?? 'markets'}`);
  }, [isBack]);
}

function SignInLink() {
  const { view } = route.value;
  if (view === 'sign-in') return null;
  return (
    <a class="button primary sign-in-link" href={signInHref(hash())}>
      Sign in
    </a>
  );
}

type PlacesProps = { places: typeof PLACES; here: ViewName | null };

function Places({ places, here }: PlacesProps) {
  return (
    <>
      {places.map((place) => (
        <a
          key={place.view}
          href={hrefOf(place.view)}
          aria-current={place.view === here ? 'page' : undefined}
        >
          {place.text}
        </a>
      ))}
    </>
  );
}

function ConnectionState() {
  const nowMs = useNow(1000);
  const { word, detail } = connectionWords(connection.value, nowMs);
  const { state } = connection.value;
  return (
    <span class={`connection is-${state}`} title={detail ?? undefined}>
      <span aria-hidden="true">{word}</span>
      {/* Without the seconds, which would be read aloud each time. */}
      <span class="sr" role="status">
        {state === 'waiting' ? `Reconnecting. ${detail}` : word}
      </span>
    </span>
  );
}

/** A connection that is back at once needs no notice. */
const LOST_SAID_AFTER_MS = 2000;

function Lost() {
  const nowMs = useNow(1000);
  const { value: sinceMs } = lostAtMs;
  if (sinceMs === null || nowMs - sinceMs < LOST_SAID_AFTER_MS) return null;
  return (
    <Notice kind="warning">
      <p>
        There has been no connection to the server since{' '}
        <When iso={new Date(sinceMs).toISOString()} as="seconds" />: the values are not live. The
        page resumes when the server can be reached.
      </p>
    </Notice>
  );
}

/** Why a visitor who was signed in is not any more; the sign-in says it itself. */
function Ended() {
  const { value: now } = session;
  if (now.state !== 'out' || now.why === null || !isForVisitors(route.value.view)) return null;
  return (
    <Notice kind="warning">
      <p role="status">{now.why}</p>
    </Notice>
  );
}

function Person() {
  const { value: now } = session;
  if (now.state !== 'in') return null;
  return (
    <details class="person">
      <summary title={now.email ?? undefined}>
        <span class="person-initial" aria-hidden="true">
          {(now.email ?? 'A').charAt(0).toUpperCase()}
        </span>
        <span class="person-name">{now.email ?? 'Signed in'}</span>
      </summary>
      <div class="person-menu">
        <button type="button" class="button quiet" onClick={() => void signOut()}>
          Sign out
        </button>
        <button type="button" class="button quiet" onClick={() => void signOut(true)}>
          Sign out everywhere
        </button>
      </div>
    </details>
  );
}

function Problems() {
  return (
    <div class="problems" role="alert">
      {problems.value.map(({ id, sentence, requestId }) => (
        <Notice key={id} kind="error">
          <p>{sentence}</p>
          {requestId !== null && (
            <p class="hint">
              Request <code>{requestId}</code>
            </p>
          )}
          <button type="button" class="button quiet" onClick={() => dismiss(id)}>
            Dismiss
          </button>
        </Notice>
      ))}
    </div>
  );
}

function CurrentView() {
  const { view, param, query } = route.value;
  const { state } = session.value;
  if (state === 'starting') return <Skeleton lines={10} of="your session" />;
  if (state === 'out' && !isForVisitors(view)) return <SignInView />;
  if (view === null) {
    return (
      <Notice>
        <ViewHead title="Nothing is here" />
        <p>
          No view has this address. <a href={hrefOf('markets')}>Go to the markets</a>
        </p>
      </Notice>
    );
  }
  const shown = VIEW_OF[view === 'sign-in' ? 'markets' : view];
  const props = { param, query };
  if ('view' in shown) return <shown.view key={param} {...props} />;
  return <LazyView key={`${view}/${param}`} load={shown.load} props={props} />;
}

/** The entry of the page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { startEntryLink, takeEntryCode } from './state/entry-link.ts';
import { startLive } from './state/live.ts';
import { startMarkets } from './state/markets.ts';
import { dismissAll, report } from './state/problems.ts';
import { shownView, startRoute } from './state/route.ts';
import { startSession } from './state/session.ts';
import { fetchNextViews } from './views.ts';

addEventListener('unhandledrejection', ({ reason }) => report(reason));
const code = takeEntryCode();
startRoute();
shownView.subscribe(dismissAll);
startEntryLink();
startMarkets();
startLive();
render(<App />, document.getElementById('page')!);
void startSession(code);
addEventListener('load', fetchNextViews);

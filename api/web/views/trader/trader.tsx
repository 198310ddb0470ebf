/** A trader's page: the record, the picks, and the signed record of 90 days. */
import { useEffect, useMemo } from 'preact/hooks';
import type { Trader } from '../../../client/generated.js';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Notice } from '../../parts/notice.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { CallError } from '../../state/call-error.ts';
import { needOwnId, ownId } from '../../state/own-id.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import { TraderState } from '../../state/trader.ts';
import { traderName } from '../../state/trader-name.ts';
import { FindTrader } from './find-trader.tsx';
import { Picks } from './picks.tsx';
import { Share } from './share.tsx';
import { SignedRecord } from './signed-record.tsx';
import { Standing } from './standing.tsx';
import { hiddenText } from './trader-words.ts';

export function TraderView({ param }: ViewProps) {
  const state = useMemo(() => new TraderState(param), [param]);
  const load = () => void state.trader.load();
  useEffect(() => {
    void needOwnId();
    if (param !== '') load();
  }, [state]);
  const { value: now } = state.trader.now;
  if (param === '' || (now.state === 'failed' && isUnknown(now.error)))
    return <Unknown of={param} />;
  return (
    <>
      <ViewHead title={now.state === 'ready' ? traderName(now.value) : 'Trader'}>
        {now.state === 'ready' && ownId.value === now.value.id && <span class="badge">You</span>}
        {now.state === 'ready' && !now.value.private && <Share of={now.value} />}
      </ViewHead>
      <Loading of={now} skeleton={<Skeleton lines={8} of="the trader" />} again={load}>
        {(found) => <Found found={found} state={state} />}
      </Loading>
    </>
  );
}

function Found({ found, state }: { found: Trader; state: TraderState }) {
  const isOwn = ownId.value === found.id;
  const hidden = hiddenText(found, isOwn);
  return (
    <>
      {hidden !== null && (
        <Notice>
          <p>{hidden}</p>
          {isOwn && <a href={hrefOf('settings')}>Change it in the settings</a>}
        </Notice>
      )}
      {!found.private && <Standing of={found} />}
      {(isOwn || !found.private) && <Picks of={found} state={state} isOwn={isOwn} />}
      {hidden === null && <SignedRecord of={found} state={state} />}
    </>
  );
}

function isUnknown(error: unknown): boolean {
  return error instanceof CallError && error.code === 'trader_not_found';
}

function Unknown({ of }: { of: string }) {
  return (
    <>
      <ViewHead title={of === '' ? 'Trader' : 'No such trader'} />
      {of !== '' && (
        <p role="status">
          Nobody here has the name or id “{of}”. A name is found whole, in any case. Its parts are
          not found.
        </p>
      )}
      <FindTrader />
      <p>
        <a href={hrefOf('boards')}>Go to the boards</a>
      </p>
    </>
  );
}

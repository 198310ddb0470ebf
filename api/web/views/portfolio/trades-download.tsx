/** The trades that match, all of them, as a CSV file. */
import { useEffect } from 'preact/hooks';
import { Refusal } from '../../parts/notice.tsx';
import { useNow } from '../../parts/now.ts';
import type { AccountId } from '../../state/account-id.ts';
import { counted } from '../../state/format.ts';
import {
  type Download,
  download,
  downloadTrades,
  forgetDownload,
  stopDownload,
} from '../../state/trade-download.ts';
import type { TradeFilter } from '../../state/trade-list.ts';

type Props = { account: AccountId; filter: TradeFilter; isOff: boolean };

export function TradesDownload({ account, filter, isOff }: Props) {
  const { value: now } = download;
  useEffect(() => forgetDownload, [account]);
  return (
    <div class="download">
      <p role="status">
        <Progress of={now} />
      </p>
      {now.state === 'running' ? (
        <button type="button" class="button" onClick={stopDownload}>
          Stop
        </button>
      ) : (
        <button
          type="button"
          class="button"
          disabled={isOff}
          onClick={() => void downloadTrades(account, filter)}
        >
          Download as CSV
        </button>
      )}
      {now.state === 'failed' && <Refusal error={now.error} />}
    </div>
  );
}

function Progress({ of }: { of: Download }) {
  switch (of.state) {
    case 'idle':
    case 'failed':
      return null;
    case 'running':
      return of.untilMs === null ? (
        <>{counted(of.count, 'trade')} so far</>
      ) : (
        <>
          {counted(of.count, 'trade')} so far, going on once the server allows more requests
          <Seconds untilMs={of.untilMs} />
        </>
      );
    case 'done':
      return <>{counted(of.count, 'trade')} downloaded</>;
    case 'stopped':
      return <>Stopped, no file was written</>;
    default:
      return of satisfies never;
  }
}

function Seconds({ untilMs }: { untilMs: number }) {
  const nowMs = useNow(1000);
  const seconds = Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
  // Not read aloud each time.
  return <span aria-hidden="true">, in {seconds} s</span>;
}

/** The operator's switches for all accounts. */
import { useState } from 'preact/hooks';
import { Confirm } from '../parts/confirm.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { Latest } from './latest.tsx';
import { type SwitchName, setSwitch, switches } from './state.ts';

const EVERY_MS = 5000;

type Words = { title: string; what: string; off: string; on: string };
const WORDS: Readonly<Record<SwitchName, Words>> = {
  venueData: {
    title: 'Venue data',
    what: 'Whether venue prices and references are served.',
    off:
      'Quotes, books, prices of listings and the history are refused for everybody (venue_data_off), ' +
      'keys see no venue prices and references, and positions are marked at cost. ' +
      'It takes effect at once.',
    on: 'Venue prices and references are served to everybody again, once every shard has the change.',
  },
  trading: {
    title: 'Trading with keys',
    what: 'Whether keys may place new orders.',
    off:
      'New orders by keys are refused (trading_off), and no new key may carry trade:write. ' +
      'Cancels still work, and orders that rest stay.',
    on: 'Keys may place new orders again.',
  },
};

export function SwitchesView() {
  return (
    <>
      <ViewHead title="Switches" />
      <Latest of={switches} everyMs={EVERY_MS} name="the switches" lines={4}>
        {(now) => (
          <>
            <Switch name="venueData" isOn={now.venueData} />
            <Switch name="trading" isOn={now.trading} />
            <p class="hint">
              A restart begins with PAPERBOOK_VENUE_DATA and PAPERBOOK_TRADING where they are set,
              else with what is set here.
            </p>
          </>
        )}
      </Latest>
    </>
  );
}

function Switch({ name, isOn }: { name: SwitchName; isOn: boolean }) {
  const [isAsking, setAsking] = useState(false);
  const { title, what, off, on } = WORDS[name];
  const action = `Turn ${title.toLowerCase()} ${isOn ? 'off' : 'on'}`;
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      <p>{what}</p>
      <p role="status">
        {title} is <strong class={isOn ? 'is-gain' : 'is-loss'}>{isOn ? 'on' : 'off'}</strong>.
      </p>
      <button type="button" class="button" onClick={() => setAsking(true)}>
        {action}…
      </button>
      {isAsking && (
        <Confirm
          title={`${action}?`}
          action={action}
          onConfirm={() => setSwitch(name, !isOn)}
          onClose={() => setAsking(false)}
        >
          <p>{isOn ? off : on}</p>
        </Confirm>
      )}
    </section>
  );
}

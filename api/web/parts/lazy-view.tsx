/**
 * A view whose code is fetched when it is first shown, also once a server is back. Rule A120
 * (api/RULES.md).
 */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Skeleton, useComeback } from './loading.tsx';
import { Notice } from './notice.tsx';

type Load<Props> = () => Promise<ComponentType<Props>>;
type State = 'coming' | 'late' | 'failed';

const LATE_AFTER_MS = 4000;
const TRIED_AGAIN_MS = 3000;
const fetched = new Map<unknown, unknown>();

export function LazyView<Props extends object>({
  load,
  props,
}: {
  load: Load<Props>;
  props: Props;
}) {
  const [, setFetched] = useState(0);
  const [state, setState] = useState<State>('coming');
  const [tries, setTries] = useState(0);
  const tryAgain = () => setTries((count) => count + 1);
  useEffect(() => {
    if (fetched.has(load)) return;
    const late = setTimeout(() => setState('late'), LATE_AFTER_MS);
    let again: number | undefined;
    let isGone = false;
    load().then(
      (view) => {
        clearTimeout(late);
        fetched.set(load, view);
        setFetched((count) => count + 1);
      },
      () => {
        clearTimeout(late);
        if (isGone) return;
        setState('failed');
        again = setTimeout(tryAgain, TRIED_AGAIN_MS);
      },
    );
    return () => {
      isGone = true;
      clearTimeout(late);
      clearTimeout(again);
    };
  }, [load, tries]);
  useComeback(state === 'failed' ? tryAgain : undefined);
  const View = fetched.get(load) as ComponentType<Props> | undefined;
  if (View !== undefined) return <View {...props} />;
  if (state === 'coming') return <Skeleton lines={8} of="this view" />;
  return (
    <Notice kind="warning">
      <p role="status">The server cannot be reached. This view loads when the server answers.</p>
      {state === 'failed' && (
        <>
          <p class="hint">
            If it does not load while prices are live, the server may run another version than when
            the page was loaded.
          </p>
          <button type="button" class="button" onClick={() => location.reload()}>
            Load the page again
          </button>
        </>
      )}
    </Notice>
  );
}

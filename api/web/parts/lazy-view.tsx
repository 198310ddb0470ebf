/** A view whose code is fetched when it is first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Skeleton } from './loading.tsx';
import { Notice } from './notice.tsx';

type Load<Props> = () => Promise<ComponentType<Props>>;

const fetched = new Map<unknown, unknown>();

export function LazyView<Props extends object>({
  load,
  props,
}: {
  load: Load<Props>;
  props: Props;
}) {
  const [, setFetched] = useState(0);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (fetched.has(load)) return;
    load().then(
      (view) => {
        fetched.set(load, view);
        setFetched((count) => count + 1);
      },
      () => setFailed(true),
    );
  }, [load]);
  const View = fetched.get(load) as ComponentType<Props> | undefined;
  if (View !== undefined) return <View {...props} />;
  if (!hasFailed) return <Skeleton lines={8} of="this view" />;
  return (
    <Notice kind="error">
      <p>
        This part of the page could not be fetched. The server may be another version since the page
        was loaded, or not be reachable.
      </p>
      <button type="button" class="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </Notice>
  );
}

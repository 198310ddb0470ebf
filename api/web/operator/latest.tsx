/** An answer that is asked for repeatedly, or a placeholder for it. */
import type { ComponentChildren } from 'preact';
import { Skeleton } from '../parts/loading.tsx';
import { Notice, Refusal } from '../parts/notice.tsx';
import { clock } from '../state/format.ts';
import { problemOf } from '../state/problems.ts';
import { type Polled, usePolled } from './polled.ts';

type Props<Value> = {
  of: Polled<Value>;
  everyMs: number;
  /** Its name: `the feeds`. */
  name: string;
  lines?: number;
  children(value: Value): ComponentChildren;
};

export function Latest<Value>({ of, everyMs, name, lines = 6, children }: Props<Value>) {
  usePolled(of, everyMs);
  const { value, atMs, error } = of.now.value;
  if (value === null) {
    if (error === null) return <Skeleton lines={lines} of={name} />;
    return <Refusal error={error} again={() => void of.load()} />;
  }
  return (
    <>
      {error !== null && (
        <Notice kind="warning">
          <p role="status">
            {problemOf(error).sentence} What is shown is of{' '}
            {clock.seconds(new Date(atMs).toISOString())}.
          </p>
        </Notice>
      )}
      {children(value)}
    </>
  );
}

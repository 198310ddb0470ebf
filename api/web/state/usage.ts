/** How much of the limits is used. */
import { call } from './calls.ts';
import { Loader } from './loaded.ts';

const EVERY_MS = 5000;

const loader = new Loader(() => call('getUsage'));
export const usage = loader.now;

export async function loadUsage(): Promise<void> {
  await loader.load();
}

/** Keeps it current, until the returned function is called. Asking counts towards no limit. */
export function followUsage(): () => void {
  void loadUsage();
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') void loader.refresh();
  }, EVERY_MS);
  return () => {
    clearInterval(timer);
    loader.clear();
  };
}

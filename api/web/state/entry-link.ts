/** The link that signs in once, `#/enter/CODE`, as the demo prints it. */
import { replace } from './route.ts';
import { hrefOf } from './route-text.ts';
import { enterByCode } from './session.ts';

/** The code leaves the address, and so the history, before it is sent. Null: there is none. */
export function takeEntryCode(): string | null {
  const code = /^#\/enter\/([\w-]+)$/.exec(location.hash)?.[1] ?? null;
  if (code !== null) replace(hrefOf('markets'));
  return code;
}

/** For a link that is opened where the page is already. */
export function startEntryLink(): void {
  addEventListener('hashchange', () => {
    const code = takeEntryCode();
    if (code !== null) void enterByCode(code);
  });
}

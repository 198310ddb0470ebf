/**
 * The address that the page begins at. A shared link to a trader (`t/…`) is the same page one folder
 * deeper: it goes on as the trader's view, so that everything relative is found. Rule A250
 * (api/RULES.md).
 */
import { hrefOf } from './route-text.ts';

const SHARED = 'meta[name="paperbook-trader"]';

function enter(): string {
  const trader = document.querySelector<HTMLMetaElement>(SHARED)?.content;
  if (trader !== undefined) {
    const view = location.hash === '' ? hrefOf('trader', trader) : location.hash;
    history.replaceState(null, '', `../${view}`);
  }
  return location.href;
}

export const enteredAt = enter();

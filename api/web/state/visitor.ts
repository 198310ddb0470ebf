/**
 * Whether a visitor without an account may look around: the document says so. Rule A163
 * (api/RULES.md).
 */
import { computed } from '@preact/signals';
import type { ViewName } from './route-text.ts';
import { session } from './session.ts';

const VISITORS = 'meta[name="paperbook-visitors"][content="on"]';
/** The views that need no account. */
const PUBLIC_VIEWS: readonly (ViewName | null)[] = ['markets', 'market', 'boards', 'trader', null];

export const isVisited = document.querySelector(VISITORS) !== null;
/** Nobody is signed in, and what is public is shown. */
export const isVisitor = computed(() => isVisited && session.value.state === 'out');

export function isForVisitors(view: ViewName | null): boolean {
  return isVisitor.value && PUBLIC_VIEWS.includes(view);
}

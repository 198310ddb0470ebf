/**
 * Faults that change nothing that anybody could see, each with the reason: the file, the line's
 * text, and what becomes of it.
 */
export const EQUAL: ReadonlyMap<string, string> = new Map([
  [
    'engine/rules/matching.ts | let read = 0; | 0 -> 1',
    'what is prefetched is read for no other use',
  ],
  [
    "engine/rules/observe.ts | case 'heartbeat': | 'heartbeat' -> 'mutant'",
    'nothing follows from the case, nor behind it',
  ],
]);

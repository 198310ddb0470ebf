/** The records as routes ask them. Rule Y71 (api/RULES.md). */
import type { Records } from '../engine/records/records.ts';

export type RecordsSource = Pick<Records, 'ask' | 'setBids'>;

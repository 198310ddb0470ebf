/**
 * Records that a user has a credential at a venue: the credential's public id, never its secret.
 * Nothing is sent to a venue, so the secret is not needed. Rule I54 (api/RULES.md).
 */
import { type Static, Type } from '@sinclair/typebox';
import type { EpochMs, Uuid as UuidText } from '../../engine/rules/units.ts';
import { oneOf, strict, Uuid } from '../schemas/common.ts';

/** Venues where orders might be executed in the future. Rule A35 (api/RULES.md). */
export const EXECUTION_VENUES = ['venue_a', 'venue_c_intl'] as const;
export const ExecutionVenueSchema = oneOf(EXECUTION_VENUES);
export type ExecutionVenue = Static<typeof ExecutionVenueSchema>;

export type VenueKey = {
  userId: UuidText;
  venue: ExecutionVenue;
  /** The venue's own id of the credential. */
  venueKeyId: string;
  createdAtMs: EpochMs;
};

export const VenueKeyInputSchema = strict({
  userId: Uuid,
  venue: ExecutionVenueSchema,
  venueKeyId: Type.String({
    pattern: '^[!-~]{1,128}$',
    description: '1 to 128 visible ASCII characters',
  }),
});

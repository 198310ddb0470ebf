/**
 * Records that a user has a credential at a venue: the credential's public id, never its secret.
 * Nothing is sent to a venue, so the secret is not needed. Rule I54 (api/RULES.md).
 */
import { Type } from '@sinclair/typebox';
import type { EpochMs, Uuid as UuidText } from '../../engine/base/units.ts';
import { type ExecutionVenue, ExecutionVenueSchema, strict, Uuid } from '../base/common-schemas.ts';

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

/**
 * Key pairs that sign requests of the venue's own API. Only the public key is kept. Rule A200
 * (api/RULES.md).
 */
import { type EpochMs, isoOf, type Uuid } from '../../engine/base/units.ts';

/** The public half of a pair. It acts for its owner's personal account. */
export type VenueApiKey = {
  id: Uuid;
  userId: Uuid;
  label: string;
  publicKeyPem: string;
  createdAtMs: EpochMs;
};

/** A pair as its owner sees it: never its private key. */
export function venueApiKeyView({ id, label, createdAtMs }: VenueApiKey) {
  return { keyId: id, label, createdAt: isoOf(createdAtMs) };
}

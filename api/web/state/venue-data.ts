/** Whether the venue-data switch of the server is on, as its answers say. */
import { signal } from '@preact/signals';

/** Null: no answer has said so yet. */
export const venueData = signal<boolean | null>(null);

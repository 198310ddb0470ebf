/** The messages that a shard takes at a time. */
import type { Message } from '../../format/codec.ts';

/**
 * Messages read one at a time, at most `length`, so that messages that arrive meanwhile share the
 * record.
 */
export type Batch = Iterable<Message> & { readonly length: number };

/** The feed thread, except that it fails at the result of one market. */
import { parentPort } from 'node:worker_threads';
import '../../api/market-data/feed-thread.ts';
import type { ToFeedThread } from '../../api/market-data/feed-thread-messages.ts';
import { FATAL_MARKET } from './fatal-market.ts';

parentPort!.on('message', (message: ToFeedThread) => {
  if (message.kind === 'settled' && message.market === FATAL_MARKET) throw new Error('planted');
});

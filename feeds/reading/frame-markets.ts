/**
 * Which markets a recorded frame is about, by the words of its venue. Rules N45, R40
 * (feeds/FORMATS.md).
 */
import { fieldsOf } from './frame.ts';
import type { AdapterName } from './venue.ts';

/** The markets' names; empty: none, or all. */
export function marketsOf(adapter: AdapterName, frame: unknown): string[] {
  const fields = fieldsOf(frame) ?? {};
  switch (adapter) {
    case 'native':
      return texts(fields.market);
    case 'kalshi':
      return texts(fieldsOf(fields.msg)?.market_ticker);
    case 'polymarket_us': {
      const body = POLYMARKET_US_BODIES.map((name) => fieldsOf(fields[name])).find(
        (found) => found !== null,
      );
      return texts(body?.marketSlug ?? body?.market_slug);
    }
    case 'polymarket': {
      const messages = Array.isArray(frame) ? frame.map(fieldsOf) : [fields];
      return messages.flatMap((message) => [
        ...texts(message?.asset_id),
        ...listOf(message?.assets_ids),
        ...changesOf(message?.price_changes),
      ]);
    }
    default:
      return adapter satisfies never;
  }
}

const POLYMARKET_US_BODIES = [
  'marketData',
  'marketDataLite',
  'trade',
  'market_data',
  'market_data_lite',
];

function texts(value: unknown): string[] {
  return typeof value === 'string' ? [value] : [];
}

export function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap(texts) : [];
}

function changesOf(changes: unknown): string[] {
  return Array.isArray(changes) ? changes.flatMap((each) => texts(fieldsOf(each)?.asset_id)) : [];
}

/** The series that the commands of the history are about. Rules H6, U16 (api/RULES.md). */
import { type Command, Option } from 'commander';
import { VENUES, type Venue } from '../../engine/base/units.ts';
import { given, type KeyFlags, ofKey } from './account-connection.ts';

export type SeriesFlags = KeyFlags & { ticker?: true; venue?: Venue; from?: string; to?: string };

/** The options that name a series and a part of it. */
export function ofSeries(command: Command): Command {
  return ofKey(command)
    .option('--ticker', "<instrument> is a venue market's ticker, and prices are the market's")
    .addOption(new Option('--venue <venue>', 'whose prices; venue_a without it').choices(VENUES))
    .option('--from <time>', 'only from then on; a date, or as 2026-11-21T05:00:00Z')
    .option('--to <time>', 'only before then');
}

export function seriesOf(what: string, { ticker, venue, from, to }: SeriesFlags) {
  const series = ticker === true ? { ticker: what } : { instrumentId: what };
  return { ...series, ...given({ venue, from, to }) };
}

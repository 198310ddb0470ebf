/** The series that the commands of the history are about. Rules H6, U16 (api/RULES.md). */
import { type Command, Option } from 'commander';
import { VENUES, type Venue } from '../../engine/base/units.ts';
import { given, type KeyFlags, ofKey } from './account-connection.ts';

export type SeriesFlags = KeyFlags & { ticker?: true; venue?: Venue; from?: string; to?: string };

/** The options that name a series and a part of it. */
export function ofSeries(command: Command): Command {
  return ofKey(command)
    .option('--ticker', "<instrument> is a venue market's ticker; prices are in the market's terms")
    .addOption(
      new Option('--venue <venue>', 'venue of the prices; default venue_a').choices(VENUES),
    )
    .option('--from <time>', 'only at or after this time: a date, or 2026-11-21T05:00:00Z')
    .option('--to <time>', 'only before this time');
}

export function seriesOf(what: string, { ticker, venue, from, to }: SeriesFlags) {
  const series = ticker === true ? { ticker: what } : { instrumentId: what };
  return { ...series, ...given({ venue, from, to }) };
}

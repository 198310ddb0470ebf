/** A process that writes a log until it is killed: `writing-process.ts DIR`. */
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { nextRecord, OPTIONS, randomOf } from './log-files.ts';

const log = LogWriter.open(process.argv[2]!, { ...OPTIONS, segmentBytes: 100_000 });
process.send!('open');
setInterval(() => {
  const { nextNumber } = log;
  log.append(nextRecord(nextNumber, randomOf(nextNumber), 20_000));
  log.sync();
}, 1);
process.on('disconnect', () => process.exit());

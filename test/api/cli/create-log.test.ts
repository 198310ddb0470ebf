import test from 'ava';
import { textOf } from '../../../api/cli/create-log.ts';

test('O35: on a terminal a line of the log is text, of the time, the level, the message and the fields', (t) => {
  const time = new Date(2026, 0, 2, 3, 4, 5, 67).getTime();
  const line = {
    level: 'warn',
    time,
    venue: 'venue_a',
    frames: 3,
    lost: ['a'],
    msg: 'a feed is down',
  };
  t.is(
    textOf(JSON.stringify(line)),
    '03:04:05.067 WARN a feed is down venue=venue_a frames=3 lost=["a"]\n',
  );
  const failed = {
    level: 'error',
    time,
    err: { stack: 'Error: no\n    at file.ts:1' },
    msg: 'failed',
  };
  t.is(
    textOf(JSON.stringify(failed)),
    '03:04:05.067 ERROR failed\n    Error: no\n        at file.ts:1\n',
  );
  const hostile = { level: 'info', time, says: '\u001b[2Jgone\r\n', msg: 'a \u0007 bell' };
  const shown = textOf(JSON.stringify(hostile));
  t.is(shown.trimEnd().split('\n').length, 1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  t.notRegex(shown.trimEnd(), /[\u0000-\u001f]/);
});

/**
 * Tests that a check of each change leaves out. `npm run test:long` plays them, beside the other
 * tests of their file. A test that always runs finds the same fault, so they prove no rule.
 */
import test, { type ExecutionContext } from 'ava';
import { shareOf } from './model/seeds.ts';

type Register = (title: string, play: (t: ExecutionContext) => void | Promise<void>) => void;

const isLongRun = shareOf(100) >= 100;
const always: Register = (title, play) => test(title, play);
const alwaysSerial: Register = (title, play) => test.serial(title, play);
const leaveOut: Register = () => {};

/** As `test` of ava. */
export const longTest: Register & { serial: Register } = Object.assign(
  isLongRun ? always : leaveOut,
  { serial: isLongRun ? alwaysSerial : leaveOut },
);

/**
 * Tests that a check of each change leaves out. `npm run test:long` plays them, beside the other
 * tests of their file. A test that always runs finds the same fault, so they prove no rule.
 */
import test, { type ExecutionContext, type Implementation } from 'ava';
import { shareOf } from './model/seeds.ts';

type Play = (t: ExecutionContext) => unknown;
type Register = (title: string, play: Play) => void;

const isLongRun = shareOf(100) >= 100;

/** As `test` of ava. */
export const longTest: Register & { serial: Register } = Object.assign(
  (title: string, play: Play) => {
    if (isLongRun) test(title, play as Implementation<[]>);
  },
  {
    serial: (title: string, play: Play) => {
      if (isLongRun) test.serial(title, play as Implementation<[]>);
    },
  },
);

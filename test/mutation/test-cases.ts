/**
 * Takes the place of ava while faults are planted: keeps the tests of the files that load it, so
 * that one process can run them one by one, each time on modules loaded again. It has the parts of
 * ava that the engine's tests use. A failed assertion throws.
 */
import { deepStrictEqual, notDeepStrictEqual, ok } from 'node:assert/strict';

type Teardown = () => unknown;
type Play = (context: object) => unknown;
type Thrown = Partial<{ message: string | RegExp; code: string; instanceOf: new () => Error }>;

export type TestCase = { title: string; play: Play };

/** In the order in which the test files name them. */
export const testCases: TestCase[] = [];

export function test(title: string, play: Play): void {
  testCases.push({ title, play });
}
test.serial = test;
test.skip = (_title: string, _play: Play): void => {};
/** What all tests of a file come to is not asked of the few that reach a fault. */
test.after = (_title: string, _play: Play): void => {};

/** Throws if the test fails. */
export async function runTest({ play }: TestCase): Promise<void> {
  const teardowns: Teardown[] = [];
  try {
    await play(contextOf(teardowns));
  } finally {
    for (const teardown of teardowns.reverse()) await teardown();
  }
}

/** What a test gets as `t`. */
export function contextOf(teardowns: Teardown[]): object {
  return {
    is: (actual: unknown, expected: unknown) => ok(Object.is(actual, expected)),
    not: (actual: unknown, other: unknown) => ok(!Object.is(actual, other)),
    true: (actual: unknown) => ok(actual === true),
    false: (actual: unknown) => ok(actual === false),
    deepEqual: (actual: unknown, expected: unknown) => deepStrictEqual(actual, expected),
    notDeepEqual: (actual: unknown, other: unknown) => notDeepStrictEqual(actual, other),
    like: (actual: unknown, part: object) => deepStrictEqual(likePart(actual, part), part),
    regex: (text: string, pattern: RegExp) => ok(pattern.test(text)),
    throws: (act: () => unknown, expected: Thrown = {}) => thrownBy(act, expected),
    throwsAsync: async (
      act: Promise<unknown> | (() => Promise<unknown>),
      expected: Thrown = {},
    ) => {
      const outcome = await (typeof act === 'function' ? act() : act).then(
        () => null,
        (error: unknown) => ({ error }),
      );
      return thrownBy(() => {
        if (outcome !== null) throw outcome.error;
      }, expected);
    },
    notThrows: (act: () => unknown) => act(),
    pass: () => {},
    fail: (message?: string) => ok(false, message),
    log: () => {},
    timeout: () => {},
    teardown: (teardown: Teardown) => teardowns.push(teardown),
  };
}

/** What a value has of the fields of a part, also where getters answer. */
function likePart(actual: unknown, part: unknown): unknown {
  const isThere = typeof actual === 'object' && actual !== null;
  if (!isThere || !(isPlain(part) || Array.isArray(part))) return actual;
  const found = Object.entries(part).map(([name, of]): [string, unknown] => {
    return [name, likePart((actual as Record<string, unknown>)[name], of)];
  });
  if (!Array.isArray(part)) return Object.fromEntries(found);
  const isAsLong = Array.isArray(actual) && actual.length === part.length;
  return isAsLong ? found.map(([, value]) => value) : actual;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function thrownBy(act: () => unknown, { message, code, instanceOf }: Thrown): Error {
  let thrown: (Error & { code?: string }) | null = null;
  try {
    act();
  } catch (error) {
    thrown = error as Error;
  }
  ok(thrown !== null, 'nothing was thrown');
  if (typeof message === 'string') ok(thrown.message === message);
  if (message instanceof RegExp) ok(message.test(thrown.message));
  if (code !== undefined) ok(thrown.code === code);
  if (instanceOf !== undefined) ok(thrown instanceof instanceOf);
  return thrown;
}

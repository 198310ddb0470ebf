/** Values of options and arguments. Rules U1, U92, U93 (api/RULES.md). */
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from './usage.ts';

/** From 0 on. */
export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It is not a whole number.');
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError(`It is above ${Number.MAX_SAFE_INTEGER}.`);
}

export function numberAboveZero(text: string): number {
  const value = wholeNumber(text);
  if (value === 0) throw new InvalidArgumentError('It is not a whole number above 0.');
  return value;
}

/** As for a server, an empty variable counts as not set. */
export function defaultDataDir(): string {
  return process.env.PAPERBOOK_DATA_DIR || './data';
}

/** A variable of a shell that is not set makes an empty value, which nobody means. Rule U92. */
export function refuseEmpty(command: Command): void {
  for (const [at, argument] of command.registeredArguments.entries()) {
    if (isEmpty(command.processedArgs[at])) throw emptyError(`<${argument.name()}>`);
  }
  for (const option of command.options) {
    const name = option.attributeName();
    const isTyped = command.getOptionValueSource(name) === 'cli';
    if (isTyped && isEmpty(command.getOptionValue(name))) throw emptyError(option.long ?? name);
  }
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.includes(''));
}

function emptyError(name: string): UsageError {
  return new UsageError(`${name} must not be empty`);
}

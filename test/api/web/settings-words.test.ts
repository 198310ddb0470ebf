import test from 'ava';
import type { Usage } from '../../../api/client/client.js';
import { CallError } from '../../../api/web/state/call-error.ts';
import { fieldFault } from '../../../api/web/state/field-fault.ts';
import {
  formOf,
  LIQUIDITY_OPTIONS,
  MODEL_OPTIONS,
  PRESET_PARTS,
  presetOf,
  realismIn,
} from '../../../api/web/state/realism-words.ts';
import {
  limitRows,
  resetState,
  SECTIONS,
  sectionOf,
} from '../../../api/web/state/settings-words.ts';
import { LIQUIDITIES } from '../../../engine/base/units.ts';
import { PRESETS, REALISM_MODELS } from '../../../engine/rules/realism.ts';

test('a reset is there unless the account says why not, and then in words, with when', (t) => {
  const at = '2026-12-24T10:00:00.000Z';
  t.deepEqual(resetState({ resetBlockedBy: null, nextResetAt: null }), { canReset: true });
  t.deepEqual(resetState({ resetBlockedBy: 'reset_too_soon', nextResetAt: at }), {
    ...{ canReset: false, why: 'There are at least 30 days between two resets.', at },
  });
  t.like(resetState({ resetBlockedBy: 'reset_not_enabled', nextResetAt: null }), {
    ...{ canReset: false, why: 'The operator of this server has not enabled resets.', at: null },
  });
  t.like(resetState(null), { canReset: false, at: null });
});

test('limits are rows with what is used of each', (t) => {
  const window = (limit: number, remaining: number) => ({ limit, remaining, resetSeconds: 30 });
  const trading = {
    newPerMinute: window(60, 57),
    newPerDay: window(1000, 990),
    closingPerMinute: window(120, 120),
  };
  const usage = {
    minute: window(60, 59),
    month: { ...window(10_000, 8796), used: 1204 },
    trading: { key: trading, account: trading },
  } as Usage;
  const rows = limitRows(usage).map(({ what, used, limit }) => `${what}: ${used} of ${limit}`);
  t.is(rows.length, 8);
  t.is(new Set(rows.map((row) => row.split(':')[0])).size, 8);
  t.deepEqual(rows.slice(0, 4), [
    'Requests in this minute: 1 of 60',
    'Requests in this month: 1204 of 10000',
    'New orders in this minute, this sign-in: 3 of 60',
    'New orders today, this sign-in: 10 of 1000',
  ]);
  t.is(limitRows({ ...usage, trading: null }).length, 2);
});

test('a refusal is beside the field that it names', (t) => {
  const refusal = (message: string, status = 400) =>
    new CallError(message, { status, code: null, requestId: 'r', retryAfterSeconds: null });
  const fault = (error: unknown) => fieldFault(error, 'displayName', 'The name');
  t.is(fault(refusal('DisplayName is used by another user.')), 'The name is used by another user.');
  t.is(fault(refusal('displayName must have 2.')), 'The name must have 2.');
  t.is(fault(refusal('DisplayNames are none.')), null);
  t.is(fault(refusal('Private must be true or false.')), null);
  t.is(fault(refusal('DisplayName is busy.', 503)), null);
  t.is(fault(new Error('displayName')), null);
  t.is(fault(null), null);
});

test('U47: a section of the settings has an address, and any other text is the first one', (t) => {
  for (const { name } of SECTIONS) t.is(sectionOf(name), name);
  t.is(sectionOf(undefined), 'profile');
  t.is(sectionOf('nowhere'), 'profile');
});

test('U49: the form of the fills knows the presets of the server, and gives back what it was given', (t) => {
  t.deepEqual(PRESET_PARTS, PRESETS);
  t.deepEqual([...MODEL_OPTIONS.map(({ value }) => value)], [...REALISM_MODELS]);
  t.deepEqual([...LIQUIDITY_OPTIONS.map(({ value }) => value)], [...LIQUIDITIES]);
  t.is(presetOf(PRESETS.simple), 'simple');
  t.is(presetOf(PRESETS.realistic), 'realistic');
  const own = { ...PRESETS.realistic, latencyMs: { min: 20, max: 60_000 } };
  t.is(presetOf(own), null);
  t.deepEqual(realismIn(formOf(own)), { realism: own });
  const typed = (fromMs: string, toMs: string) => realismIn({ ...formOf(own), fromMs, toMs });
  t.deepEqual(typed(' 0', '0 '), { realism: { ...own, latencyMs: { min: 0, max: 0 } } });
  const whole = 'A whole number from 0 to 60,000.';
  t.deepEqual(typed('', '60001'), { errors: { fromMs: whole, toMs: whole } });
  t.deepEqual(typed('1.5', '7'), { errors: { fromMs: whole } });
  t.deepEqual(typed('9', '7'), { errors: { toMs: 'Not below the first one.' } });
});

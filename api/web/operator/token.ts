/**
 * The admin token: in memory, and in the storage of this tab alone where the operator wants that. It
 * is in no address and no cookie, so no page of another origin can send it. Rule O21 (api/RULES.md).
 */
import { signal } from '@preact/signals';
import { CallError } from '../state/call-error.ts';
import { send } from '../state/request.ts';

/** Null: the operator has not given it yet. */
export const token = signal<string | null>(null);
/** Why the token that was there is gone: a sentence. */
export const why = signal<string | null>(null);

const STORED = 'paperbook.admin-token';
const REFUSED = 'The server refused this token. Paste what DATA_DIR/admin.token contains now.';
/** The characters that a header can carry. */
const TOKEN = /^[\x21-\x7e]+$/;

export function startToken(): void {
  token.value = sessionStorage.getItem(STORED);
}

/** Takes a token that the server accepts; rejects with why it does not. */
export async function enter(text: string, isKept: boolean): Promise<void> {
  const given = text.trim();
  if (!TOKEN.test(given)) throw new Error(REFUSED);
  try {
    await sendWith(given, 'GET', 'admin/venue-data');
  } catch (error) {
    throw isRefused(error) ? new CallError(REFUSED, error) : error;
  }
  if (isKept) sessionStorage.setItem(STORED, given);
  else sessionStorage.removeItem(STORED);
  why.value = null;
  token.value = given;
}

/** @param sentence why, where the operator did not want it */
export function leave(sentence: string | null): void {
  sessionStorage.removeItem(STORED);
  why.value = sentence;
  token.value = null;
}

/** The answer of the admin listener. Rejects with a `CallError`; a refused token leads back. */
export async function ask<Answer>(
  method: string,
  address: string,
  body?: unknown,
): Promise<Answer> {
  const given = token.value ?? '';
  try {
    return (await sendWith(given, method, address, body)) as Answer;
  } catch (error) {
    if (isRefused(error) && token.value === given) leave(REFUSED);
    throw error;
  }
}

function sendWith(given: string, method: string, address: string, body?: unknown) {
  return send({ method, address, headers: { Authorization: `Bearer ${given}` }, body });
}

function isRefused(error: unknown): error is CallError {
  return error instanceof CallError && error.status === 401;
}

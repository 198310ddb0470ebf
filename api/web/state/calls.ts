/** Calls of the API with the session of the page: `await call('getGame', { path: { ref } })`. */
import { CallError } from './call-error.ts';
import { type CallName, type Input, type Output, requestLine } from './operations.ts';
import { type Request, send, type Wait } from './request.ts';
import { leave, leaveAsGuest, renew, session } from './session.ts';

export const API = 'v1';
const REFUSED = 'The server has refused your session. Sign in again.';

/**
 * The body of a success. Rejects with a `CallError`. An access token that has ended is renewed
 * once.
 */
export async function call<Name extends CallName>(
  name: Name,
  ...[input, wait]: Record<never, never> extends Input<Name>
    ? [input?: Input<Name>, wait?: Wait]
    : [input: Input<Name>, wait?: Wait]
): Promise<Output<Name>> {
  const { headers, body, ...parts } = (input ?? {}) as Parameters<typeof requestLine>[1] &
    Pick<Request, 'headers' | 'body'>;
  const { method, address } = requestLine(name, parts);
  const request = {
    method,
    address: `${API}${address}`,
    ...(headers === undefined ? {} : { headers }),
    body,
    ...(wait === undefined ? {} : { wait }),
  };
  try {
    return (await send(request)) as Output<Name>;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.code === 'guest_account') leaveAsGuest();
    // A visitor has no session to renew.
    const isOut = session.peek().state === 'out';
    if (error.status !== 401 || isOut || !(await renew())) throw error;
  }
  return (await sendAgain(request)) as Output<Name>;
}

async function sendAgain(request: Request): Promise<unknown> {
  try {
    return await send(request);
  } catch (error) {
    if (error instanceof CallError && error.status === 401) leave(REFUSED);
    throw error;
  }
}

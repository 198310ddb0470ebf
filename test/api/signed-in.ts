/** Signed-in people for tests, and requests of theirs that are slow. */
import type { ExecutionContext } from 'ava';
import { newUser } from '../../api/identity/users.ts';
import { RawConnection } from './raw-connection.ts';
import type { Answer, Api } from './support.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const JSON_TYPE = { 'content-type': 'application/json' };

/** A second person, without keys, signed in. */
export async function newcomer(api: Api): Promise<{ userId: string; token: string }> {
  const user = newUser(
    { email: `new${[...api.store.users.values()].length}@example.com` },
    Date.now(),
  );
  await api.store.addUser(user);
  return { userId: user.id, token: await api.signIn(user) };
}

export const create = (api: Api, token: string, body: object = {}) =>
  api.call('POST', '/api_keys', { token, body });

/** A request whose last byte is sent, and whose status is known, with `finish`. */
export function slowRequest(
  t: ExecutionContext,
  api: Api,
  line: string,
  bearer: string,
  body: string,
) {
  const connection = new RawConnection(t, api.port);
  const length = `Content-Type: application/json\r\nContent-Length: ${body.length}`;
  const head = `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\n${length}`;
  connection.send(`${head}\r\n\r\n${body.slice(0, -1)}`);
  return {
    finish: async (): Promise<number> => {
      connection.send(body.slice(-1));
      await connection.until(({ text }) => text.includes('\r\n\r\n'));
      return Number(connection.text.slice('HTTP/1.1 '.length).slice(0, 3));
    },
  };
}

export function isRefused(t: ExecutionContext, answer: Answer, status: number, code: string): void {
  t.is(answer.status, status, answer.text);
  t.is(answer.json.error.code, code);
}

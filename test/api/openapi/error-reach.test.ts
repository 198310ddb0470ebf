/**
 * Every error that the description declares of an operation is reached here, on the real core, and
 * every code of the table is declared by some operation or named below with what it waits for.
 * That no operation gives another is the business of whoever calls in a test: `support.ts`.
 */
import { readFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { ERRORS, type ErrorCode } from '../../../api/base/errors.ts';
import { CATALOG } from '../../engine/fixtures.ts';
import { shareOf } from '../../model/seeds.ts';
import { CoreEngine } from '../core-engine.ts';
import {
  COMMON,
  newCaller,
  type Operation,
  OWN,
  REQUESTS,
  type Reach,
} from '../error-scenarios.ts';
import { type Api, type Json, startApi } from '../support.ts';

/** Codes that no route of today gives, by what will give them. */
const NOT_YET: Partial<Record<ErrorCode, string>> = {
  venue_a_rejected: 'live trading',
  venue_c_intl_rejected: 'live trading',
};
/** Given where there is no operation: paths and methods, and the operator's listener. */
const OF_NO_OPERATION: ErrorCode[] = ['route_not_found', 'method_not_allowed', 'account_not_found'];

/**
 * Errors that all operations share are answered before any of them. A check of each change asks for
 * every eleventh one.
 */
const SHARED_APART = shareOf(100) < 100 ? 11 : 1;

test('E2: every error declared of an operation is reached', async (t) => {
  const engine = new CoreEngine();
  const env = { PAPERBOOK_LIMITS_ENFORCED: 'on' };
  const api = await startApi(t, { engine, catalog: CATALOG, env });
  const unused = new Set(Object.values(OWN).flatMap((codes) => Object.values(codes)));
  let shared = 0;
  for (const [operationId, operation, declared] of await declaredErrors(api)) {
    const caller = await newCaller(api, operation);
    for (const { status, code } of declared) {
      const error = `${status} ${code}`;
      const reaches = reachesOf(operationId, error as '503 internal_error', code);
      t.true(reaches.length > 0, `${operationId} declares ${error}, and nothing here reaches it`);
      for (const reach of reaches) {
        unused.delete(reach);
        // What an operation shares with all others changes nothing of its caller, nor of the core.
        const isShared = reach === COMMON[error];
        if (isShared && shared++ % SHARED_APART !== 0) continue;
        if (!isShared) engine.reset();
        const token = isShared ? caller : await newCaller(api, operation);
        const answer = await reach({ t, api, engine, operation, token });
        t.is(`${answer.status} ${answer.json?.error?.code}`, error, operationId);
      }
    }
  }
  t.is(unused.size, 0, 'an error is reached here that its route does not declare');
});

function reachesOf(operationId: string, error: '503 internal_error', code: ErrorCode): Reach[] {
  const own = OWN[operationId];
  const reaches = own?.[error] === undefined ? [COMMON[error], own?.[code]] : [own[error]];
  return reaches.filter((reach) => reach !== undefined);
}

test('E2, E3: each code is given today, or waits', async (t) => {
  const api = await startApi(t);
  const given = new Set<ErrorCode>(OF_NO_OPERATION);
  for (const [, , declared] of await declaredErrors(api)) {
    for (const { code } of declared) given.add(code);
  }
  const waiting = Object.keys(NOT_YET) as ErrorCode[];
  t.deepEqual(
    waiting.filter((code) => given.has(code)),
    [],
    'given, and yet said to wait',
  );
  t.deepEqual([...given, ...waiting].sort(), (Object.keys(ERRORS) as ErrorCode[]).sort());
  await reachedWithoutOperation(t, api);
});

test('E2, E3: the rule book has each code once: given with its status, or waiting', async (t) => {
  const rules = await readFile(new URL('../../../api/RULES.md', import.meta.url), 'utf8');
  const section = (from: string, to: string) =>
    rules.split(`**${from}**`)[1]!.split(`**${to}**`)[0]!;
  const given = [...section('E2', 'E3').matchAll(/^\| (`[^|]*) \| (\d+) \|/gm)].flatMap(
    ([, codes, status]) => codesIn(codes!).map((code) => `${code} ${status}`),
  );
  const expected = (Object.keys(ERRORS) as ErrorCode[])
    .filter((code) => NOT_YET[code] === undefined)
    .map((code) => `${code} ${ERRORS[code].status}`);
  t.deepEqual(given.sort(), expected.sort());
  t.deepEqual(codesIn(section('E3', 'E4')).sort(), Object.keys(NOT_YET).sort());
});

function codesIn(text: string): string[] {
  return [...text.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!);
}

async function reachedWithoutOperation(t: ExecutionContext, api: Api): Promise<void> {
  t.is((await api.call('GET', '/nowhere')).json.error.code, 'route_not_found');
  t.is((await api.call('PUT', '/status')).json.error.code, 'method_not_allowed');
  const nobody = '/admin/users/0195d3a0-0000-7000-8000-00000000dead';
  const answer = await api.admin('PATCH', nobody, { body: { private: true } });
  t.is(answer.json.error.code, 'account_not_found');
}

type Declared = { status: number; code: ErrorCode };

/** Every operation of the description, and the errors it says it can give. */
async function declaredErrors(api: Api): Promise<[string, Operation, Declared[]][]> {
  const { paths } = (await api.call('GET', '/openapi.json')).json;
  return Object.entries<Json>(paths).flatMap(([path, methods]) => {
    return Object.entries<Json>(methods).map(([method, described]) => {
      const { operationId, responses } = described;
      const scope = described['x-required-scope'] ?? null;
      const request = { path, ...REQUESTS[operationId] };
      const errors = Object.entries<Json>(responses).flatMap(([status, { content }]) => {
        const codes = Object.keys(content?.['application/json']?.examples ?? {});
        return codes.map((code) => ({ status: Number(status), code }) as Declared);
      });
      const isOfSession = 'sessionBearer' in (described.security[0] ?? {});
      const operation = { method: method.toUpperCase(), scope, isOfSession, ...request };
      return [operationId, operation, errors] as [string, Operation, Declared[]];
    });
  });
}

/**
 * Organizations that live in an outside service: it receives the caller's key or session
 * and answers with the organizations that its owner can use. Rule I66 (api/RULES.md).
 *
 * A question has a time limit, its answer a size limit, and the number of open questions a limit.
 * The credential never follows a redirect. Any failure of the service is a 503 here.
 */

import { Type } from '@sinclair/typebox';
import type { ValidateFunction } from 'ajv';
import { jsonProblem, parseJson } from '../../engine/base/bounded-json.ts';
import type { EpochMs, Uuid as UuidText } from '../../engine/base/units.ts';
import { Uuid } from '../base/common-schemas.ts';
import { ApiError } from '../base/errors.ts';
import type { Log } from '../base/logger.ts';
import { plain } from '../base/shown-text.ts';
import { createAjv } from '../base/validation.ts';
import { RoleSchema } from '../schemas/identity.ts';
import { organizationAccount } from './accounts.ts';
import type { CredentialHolder, Organizations, OwnOrganization } from './organization-access.ts';
import type { RealismTable } from './realism-table.ts';

const ANSWER_WITHIN_MS = 3000;
const ANSWER_BYTES_MAX = 256 * 1024;
/** How long an answer is reused for the same credential, so that no order waits for the service. */
const FRESH_MS = 5000;
const REMEMBERED_MAX = 10_000;
const QUESTIONS_OPEN_MAX = 64;
const RETRY_AFTER_SECONDS = 2;

type Options = {
  url: string;
  users: { has(id: UuidText): boolean };
  realism: Pick<RealismTable, 'of'>;
  log: Log;
};

type Question = { askedAtMs: EpochMs; isOpen: boolean; answer: Promise<OwnOrganization[]> };

/** The problem of an answer, in words for the log; it contains no part of the answer itself. */
class UnusableAnswer extends Error {}

export function outsideOrganizations({ url, users, realism, log }: Options): Organizations {
  /** The last question of each key or session, oldest first. */
  const questions = new Map<UuidText, Question>();
  let openCount = 0;

  /** Asks, unless the credential's last question is still open or recent enough. */
  function ask(holder: CredentialHolder, freshMs: number): Promise<OwnOrganization[]> {
    const { credentialId, token } = holder;
    const last = questions.get(credentialId);
    const nowMs = Date.now();
    if (last !== undefined && (last.isOpen || nowMs - last.askedAtMs < freshMs)) return last.answer;
    if (openCount === QUESTIONS_OPEN_MAX) throw unavailable();
    openCount++;
    const question = { askedAtMs: nowMs, isOpen: true, answer: fetchOrganizations(url, token) };
    question.answer = question.answer
      .catch((error: unknown) => {
        log.warn({ reason: reasonOf(error) }, 'the organization service cannot be used');
        if (questions.get(credentialId) === question) questions.delete(credentialId);
        throw unavailable();
      })
      .finally(() => {
        question.isOpen = false;
        openCount--;
      });
    remember(credentialId, question);
    return question.answer;
  }

  function remember(credentialId: UuidText, question: Question): void {
    questions.delete(credentialId);
    if (questions.size === REMEMBERED_MAX) questions.delete(questions.keys().next().value!);
    questions.set(credentialId, question);
  }

  return {
    of: (holder) => ask(holder, 0),
    accountOf: async (holder, id) => {
      const organization = (await ask(holder, FRESH_MS)).find((own) => own.id === id);
      // The service does not say which ids exist, except the ids of this caller. An id of a user
      // must not open that user's account, whatever the service lists.
      if (organization === undefined || users.has(id)) throw new ApiError('organization_forbidden');
      return organizationAccount(organization, null, realism.of(id));
    },
  };
}

type Answer = { organizations: OwnOrganization[] };

const AnswerSchema = Type.Object({
  organizations: Type.Array(
    Type.Object({
      id: Uuid,
      slug: Type.String({ minLength: 1 }),
      name: Type.String(),
      role: RoleSchema,
    }),
  ),
});

/** Compiled at the first answer: most servers ask no such service. */
let isAnswer: ValidateFunction<Answer> | null = null;

async function fetchOrganizations(url: string, token: string): Promise<OwnOrganization[]> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    // The credential goes only to the address that the operator configured.
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new UnusableAnswer(`it answered ${response.status}`);
  }
  const answer = parse(await textOf(response));
  isAnswer ??= createAjv().compile<Answer>(AnswerSchema);
  if (!isAnswer(answer)) {
    throw new UnusableAnswer('its answer is no list of id, slug, name and role');
  }
  return answer.organizations
    .map(({ id, slug, name, role }) => {
      return { id: id.toLowerCase(), slug: plain(slug), name: plain(name), role };
    })
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

async function textOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > ANSWER_BYTES_MAX) {
      throw new UnusableAnswer(`its answer has more than ${ANSWER_BYTES_MAX} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new UnusableAnswer(`its answer ${jsonProblem(error)}`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnusableAnswer) return error.message;
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return `it did not answer within ${ANSWER_WITHIN_MS} ms`;
  }
  const { cause } = error as { cause?: { code?: string } };
  return `it cannot be reached (${cause?.code ?? (error as Error).name})`;
}

function unavailable(): ApiError {
  return new ApiError('internal_error', {
    status: 503,
    message: 'The organization service cannot be asked now. Send the request again.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/**
 * An account's choice of realism: how a request names it, and how it takes effect. Rules A140 to A142
 * (api/RULES.md), T158 (engine/RULES.md).
 */
import { Type } from '@sinclair/typebox';
import type { Uuid } from '../../engine/base/units.ts';
import { isOtherModel, PRESETS, type Realism } from '../../engine/rules/realism.ts';
import { type AdapterName, LEVEL_ADAPTERS } from '../../feeds/reading/venue.ts';
import { strict } from '../base/common-schemas.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import { type BodyReader, bodyReader, valueReader } from '../base/validation.ts';
import type { Config } from '../config/settings.ts';
import {
  PresetSchema,
  type RealismChange,
  RealismChangeSchema,
  RealismPartsSchema,
} from '../schemas/realism.ts';
import type { ServerContext } from './server-context.ts';

type Context = Pick<ServerContext, 'config' | 'identity' | 'switches' | 'bookNeeds' | 'log'>;

const readPreset = valueReader(strict({ realism: PresetSchema }), 'field');
const readParts = valueReader(strict({ realism: RealismPartsSchema }), 'field');

/** A preset or parts, of a field `realism`. Throws `invalid_request`, which names the part. */
export function readRealism(realism: unknown): RealismChange {
  const isParts = typeof realism === 'object' && realism !== null && !Array.isArray(realism);
  return isParts ? readParts({ realism }).realism : readPreset({ realism }).realism;
}

/** Reads a body whose only field is `realism`. */
export const readRealismBody: BodyReader<{ realism: RealismChange }> = bodyReader(
  strict({ realism: Type.Unknown() }),
  ({ realism }) => ({ realism: readRealism(realism) }),
  strict({ realism: RealismChangeSchema }, { title: 'RealismRequest' }),
);

/** The present choice of an account. */
export function realismOf({ identity }: Pick<Context, 'identity'>, account: Uuid): Realism {
  return identity.realism.of(account) ?? PRESETS.simple;
}

/**
 * Sets an account's realism for the orders that it places afterwards; resolves once it is on disk.
 * Throws `invalid_request`, and `not_configured` for `queue` without levels.
 */
export async function changeRealism(
  context: Context,
  account: Uuid,
  change: RealismChange,
): Promise<Realism> {
  const { config, identity, switches, bookNeeds, log } = context;
  const before = realismOf(context, account);
  const first = changed(before, change);
  if (first.model === 'queue' && !hasLevels(config)) {
    throw new ApiError('not_configured', { status: NO_QUEUES.status, message: NO_LEVELS });
  }
  // Orders that were placed under the former choice keep it, also after a restart.
  if ([before, first].some(({ model }) => isOtherModel(model, config.fillModel))) {
    await switches.followBooks();
    bookNeeds.raise();
  }
  // Another request may have changed a part meanwhile.
  const realism = changed(realismOf(context, account), change);
  await identity.realism.put(account, realism);
  log.info({ account, realism }, 'realism changed');
  return realism;
}

/** The refusal of a model that this server cannot have. Rule A140 (api/RULES.md). */
export const NO_QUEUES = { code: 'not_configured', status: 409 } as const;
const NO_LEVELS = "No feed of this server tells a book's levels, which the model queue needs.";

/** Throws `invalid_request` if the parts do not fit together. */
function changed(present: Realism, change: RealismChange): Realism {
  const realism = typeof change === 'string' ? PRESETS[change] : { ...present, ...change };
  const { min, max } = realism.latencyMs;
  if (min > max) throw invalidRequest('realism.latencyMs.min must be at most its max');
  return realism;
}

/** Whether the levels of some book can be told. A recorded file may be of any venue. */
function hasLevels({ feeds, discover, clock, fillModel }: Config): boolean {
  const tells = ({ adapter }: { adapter: AdapterName }) => LEVEL_ADAPTERS.includes(adapter);
  return fillModel === 'queue' || clock === 'feed' || feeds.some(tells) || discover.some(tells);
}

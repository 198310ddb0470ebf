/** Admin routes of the engine's clock. Rules C5, C6, O10 (engine/RULES.md, api/RULES.md). */
import { Type } from '@sinclair/typebox';
import { isoOf } from '../../../engine/base/units.ts';
import { NoQuery, strict } from '../../base/common-schemas.ts';
import { invalidRequest } from '../../base/errors.ts';
import { bodyReader } from '../../base/validation.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { ClockAnswer } from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'log' | 'config'>;

const readAccepting = bodyReader(strict({ acceptMachine: Type.Literal(true) }));

export function clockAdminRoutes({ engine, config, log }: Context): Route<Operator>[] {
  /**
   * `aheadMs`: how far the engine's time is ahead of the machine's; negative when it is earlier.
   */
  const shown = () => {
    const [engineMs, machineMs] = [engine.nowMs(), engine.machineMs()];
    const aheadMs = engineMs - machineMs;
    return JSON.stringify({ engine: isoOf(engineMs), machine: isoOf(machineMs), aheadMs });
  };
  return [
    keyed({
      method: 'GET',
      path: '/admin/clock',
      query: NoQuery,
      response: ClockAnswer,
      run: shown,
    }),
    keyed({
      method: 'PUT',
      path: '/admin/clock',
      query: NoQuery,
      response: ClockAnswer,
      mayBeUnavailable: true,
      readBody: readAccepting,
      run: async () => {
        if (config.clock === 'feed') {
          throw invalidRequest("with PAPERBOOK_CLOCK=feed the engine's time is the feed's");
        }
        const before = isoOf(engine.nowMs());
        await engine.acceptMachineTime();
        log.warn({ before, engine: isoOf(engine.nowMs()) }, "the machine's time was accepted");
        return shown();
      },
    }),
  ];
}

/** The answer that is being written, as `cork` calls back for it. */
import { statusLines } from './header-lines.ts';
import type { HttpResponse } from './http-response.ts';

// `cork` calls back before it returns, so one shared slot serves every answer without a closure.
export const pendingWrite = {
  res: null as unknown as HttpResponse,
  status: 0,
  headers: '',
  body: '' as string | Uint8Array,
  isDone: false,
};

export function writePending(): void {
  const { res, status, headers, body } = pendingWrite;
  // 200 is sent where no status is written.
  if (status !== 200) res.writeStatus(statusLines.get(status)!);
  res.writeHeader('X-Request-Id', headers);
  // A size of 0 means the size of the body.
  pendingWrite.isDone = res.tryEnd(body, 0)[1];
}

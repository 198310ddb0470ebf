/** How far a replay is, on a terminal: frames, their rate and the time left. Rule R41 (feeds/FORMATS.md). */

const EVERY_MS = 500;

export type Progress = {
  /** @param share of the file that is read, 0 to 1 */
  update(frames: number, share: number): void;
  /** Takes the line away. */
  end(): void;
};

/** Writes to `to` if it is a terminal, and nowhere else. */
export function progressOn(
  to: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
  nowMs: () => number = () => performance.now(),
): Progress {
  if (to.isTTY !== true) return { update() {}, end() {} };
  const startMs = nowMs();
  let shownMs = startMs;
  return {
    update(frames, share) {
      const atMs = nowMs();
      if (atMs - shownMs < EVERY_MS) return;
      shownMs = atMs;
      to.write(`\r${progressText(frames, share, atMs - startMs)}\x1b[K`);
    },
    end() {
      if (shownMs !== startMs) to.write('\r\x1b[K');
    },
  };
}

export function progressText(frames: number, share: number, elapsedMs: number): string {
  const rate = Math.round((frames / Math.max(elapsedMs, 1)) * 1000);
  const leftMs = share > 0 ? (elapsedMs / share) * (1 - share) : null;
  const left = leftMs === null ? '' : `, ${clockText(leftMs)} left`;
  return `${grouped(frames)} frames, ${grouped(rate)} a second, ${Math.floor(share * 100)}%${left}`;
}

const grouped = (count: number) => count.toLocaleString('en-US');

/** `1:02:03`, or `2:03`. */
function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  const rest = `${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

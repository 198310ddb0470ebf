/** The messages between the main thread and the thread of a further listener. */
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import type { Reply, TradingCommand } from '../../engine/rules/messages.ts';
import type { Realism } from '../../engine/rules/realism.ts';
import type { FurtherEnd } from '../../engine/shard/callers/further-ends.ts';
import type { ExecutionVenue } from '../base/common-schemas.ts';
import type { Config } from '../config/settings.ts';
import type { RouteTally } from '../dispatch/metrics.ts';
import type { AnswerPart, CallerReport, RelayedHead } from '../http/relayed-request.ts';
import type { SocketCall } from '../http/relayed-socket.ts';
import type { KeyCaller } from '../identity/key-access.ts';
import type { Slot } from '../limits/shared-counts.ts';

/** Of a request, at one listener. */
export type RequestNumber = number;

/**
 * A key and its owner, as they are now, for a listener that serves requests with the key itself.
 * Rule A131 (api/RULES.md).
 */
export type Grant = {
  caller: KeyCaller;
  venueKeys: ExecutionVenue[];
  /** Of the user's personal account; null: the preset `simple`. */
  realism: Realism | null;
  /** Of user and key, read before the rows: `CredentialVersions`. */
  versions: { user: number; key: number };
  /** Where requests of user and key are counted. */
  slots: { user: Slot; key: Slot };
};

/** The credential headers as they were sent. */
export type SentCredential = { authorization: string; ownHeader: string };

/** The memory that the main thread shares with all listeners. */
export type SharedMemory = {
  /** Of `sharedTime`. */
  time: SharedArrayBuffer;
  /** Of `CredentialVersions`. */
  versions: SharedArrayBuffer;
  /** Of `SwitchFlags`. */
  switches: SharedArrayBuffer;
  /** Of `countsMemory`. */
  counts: SharedArrayBuffer;
};

export type ListenerData = {
  config: Pick<
    Config,
    'host' | 'tls' | 'behindTlsProxy' | 'requestLog' | 'limitsEnforced' | 'clock'
  >;
  /** The port that the main thread listens on. */
  port: number;
  /** The lines on every answer, as of the main thread's listener. */
  headers: string;
  queueDepthMax: number;
  memory: SharedMemory;
  /** By shard; null: it is down. */
  ends: (FurtherEnd | null)[];
  /** Keys whose orders the main thread sends. */
  roaming: Uuid[];
  /** Nothing is sent to the shards until `go_on`. */
  isPaused: boolean;
};

export type ToListener =
  | { kind: 'answer'; number: RequestNumber; part: AnswerPart }
  | { kind: 'socket'; number: RequestNumber; call: SocketCall }
  | { kind: 'publish'; topic: string; message: string | Uint8Array; isBinary: boolean }
  | { kind: 'grant'; sent: SentCredential; grant: Grant }
  /** The answer to `again`; null: the key is not usable any more. */
  | { kind: 'granted'; id: number; grant: Grant | null }
  | { kind: 'traded'; id: number; reply: Reply }
  /** The main thread cannot send the order now. */
  | { kind: 'not_traded'; id: number; message: string; retryAfterSeconds: number }
  | { kind: 'shard'; shard: number; end: FurtherEnd | null }
  | { kind: 'roams'; id: number; keyId: Uuid }
  | { kind: 'is_home'; keyId: Uuid }
  | { kind: 'pause'; id: number }
  | { kind: 'go_on' }
  /** The last message: answer what is under way, for so long at most, and end. */
  | { kind: 'stop'; graceMs: number };

export type FromListener =
  | { kind: 'listens' }
  | { kind: 'request'; number: RequestNumber; head: RelayedHead; wanted: SentCredential | null }
  | { kind: 'caller'; number: RequestNumber; report: CallerReport }
  /** The caller of a request whose grant is outdated, while its body arrived. */
  | { kind: 'again'; id: number; caller: { keyId: Uuid; token: string } }
  | { kind: 'trade'; id: number; owner: Uuid; command: TradingCommand }
  | { kind: 'used'; keyId: Uuid; atMs: EpochMs }
  /** The requests since the last report: by route, and whose counts have changed. */
  | { kind: 'report'; requests: RouteTally[]; counted: Uuid[] }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; fields: object; message: string }
  /** All that was sent to the shards before `roams` or `pause` is decided. */
  | { kind: 'settled'; id: number }
  /** The thread ends. */
  | { kind: 'failed'; reason: string };

/** Real members of etcd on loopback, and what else a cluster on one machine needs. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from './eventually.ts';
import { freePorts } from './free-ports.ts';

/** Where Debian's package puts it; null: it is not installed here. */
export const etcdProgram = ['/usr/bin/etcd', '/usr/local/bin/etcd'].find(existsSync) ?? null;

const running = new Set<ReturnType<typeof spawn>>();
// A test run that is cut short must not leave members running.
process.on('exit', () => {
  for (const member of running) member.kill('SIGKILL');
});

/** Members of one cluster of etcd on loopback, which others may kill, stop and start. */
export class RealEtcd {
  readonly urls: string[] = [];
  readonly #directory = mkdtempSync(path.join(tmpdir(), 'paperbook-etcd-'));
  readonly #members: ReturnType<typeof spawn>[] = [];
  /** Of each member, the arguments of its program. */
  readonly #args: string[][] = [];

  /**
   * @param more options of the program
   * @param linkTo the port by which the other members reach one that listens on this port
   */
  static async start(
    members = 1,
    more: Record<string, string> = {},
    linkTo: (port: number, at: number) => Promise<number> | number = (port) => port,
  ): Promise<RealEtcd> {
    const etcd = new RealEtcd();
    const ports = await freePorts(members * 2);
    const urlOf = (port: number) => `http://127.0.0.1:${port}`;
    const listening = ports.slice(members);
    const peers = (await Promise.all(listening.map(linkTo))).map(urlOf);
    const cluster = peers.map((peer, at) => `m${at}=${peer}`).join(',');
    for (const [at, peer] of peers.entries()) {
      const url = urlOf(ports[at]!);
      etcd.urls.push(url);
      const options = {
        name: `m${at}`,
        'data-dir': path.join(etcd.#directory, `m${at}`),
        'listen-client-urls': url,
        'advertise-client-urls': url,
        'listen-peer-urls': urlOf(listening[at]!),
        'initial-advertise-peer-urls': peer,
        'initial-cluster': cluster,
        ...more,
      };
      etcd.#args.push(Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]));
      etcd.run(at);
    }
    for (const url of etcd.urls) {
      await eventually('a member of etcd is healthy', async () => {
        const answer = await fetch(`${url}/health`).catch(() => null);
        return (await answer?.text())?.includes('true') ?? false;
      });
    }
    return etcd;
  }

  /** The processes of the members. */
  get pids(): number[] {
    return this.#members.map(({ pid }) => pid!);
  }

  /** Starts a member that does not run. */
  run(at: number): void {
    const member = spawn(etcdProgram!, this.#args[at]!, { stdio: 'ignore' });
    running.add(member);
    member.once('exit', () => running.delete(member));
    this.#members[at] = member;
  }

  signal(at: number, signal: NodeJS.Signals): void {
    this.#members[at]!.kill(signal);
  }

  /** Resolves once the member has ended, as by a loss of power of its machine. */
  async kill(at: number): Promise<void> {
    const member = this.#members[at]!;
    if (member.exitCode !== null || member.signalCode !== null) return;
    const exit = new Promise((resolve) => member.once('exit', resolve));
    member.kill('SIGKILL');
    await exit;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map((_, at) => this.kill(at)));
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

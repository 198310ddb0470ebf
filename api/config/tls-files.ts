/** Checks the certificate and its key before a start. Rules A60, G8 (api/RULES.md). */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError } from './config.ts';
import type { Config } from './settings.ts';

/** Throws `ConfigError` that names the variable of the file that cannot be used, and why. */
export function checkTlsFiles(tls: Config['tls']): void {
  if (tls === null) return;
  const certPem = readPem('PAPERBOOK_TLS_CERT', tls.certFile);
  const keyPem = readPem('PAPERBOOK_TLS_KEY', tls.keyFile);
  const cert = read('PAPERBOOK_TLS_CERT', tls.certFile, 'certificate', () => {
    return new X509Certificate(certPem);
  });
  const key: KeyObject = read('PAPERBOOK_TLS_KEY', tls.keyFile, 'private key', () => {
    return createPrivateKey(keyPem);
  });
  if (!cert.checkPrivateKey(key)) {
    throw new ConfigError([
      `PAPERBOOK_TLS_KEY ${tls.keyFile} is not the key of PAPERBOOK_TLS_CERT ${tls.certFile}`,
    ]);
  }
}

function readPem(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([`${variable} ${file} cannot be read (${code})`]);
  }
}

/** A key that needs a passphrase is refused too: a server could not use it. */
function read<T>(variable: string, file: string, what: string, reader: () => T): T {
  try {
    return reader();
  } catch {
    throw new ConfigError([`${variable} ${file} holds no ${what} in PEM, without a passphrase`]);
  }
}

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Config } from '../config.ts'
import type { Logger } from '../logger.ts'
import { codeOf } from '../process/error-code.ts'
import { watchFiles } from '../process/watch-files.ts'
import { contextOf, type TlsSource } from '../server/http/tls.ts'
import { StartProblem } from './start-problem.ts'

type Pair = TlsSource['current']
type Read = { readonly ok: true; readonly pair: Pair } | { readonly ok: false; readonly problem: string }

/**
 * Reads certificate and key, and again whenever a file changes. A pair that cannot be used is reported, and the one before
 * stays: files that are replaced one after the other do not fit for a moment.
 * @throws StartProblem when the first pair cannot be used
 */
export async function watchCertificate(
  files: NonNullable<Config['tls']>,
  logger: Logger,
): Promise<TlsSource & Disposable & { readonly end: Date }> {
  const first = await readPair(files)
  if (!first.ok) throw new StartProblem(first.problem)
  warnOfEnd(first.pair, logger)
  let current = first.pair
  const listeners: (() => void)[] = []
  const reload = async (): Promise<void> => {
    const read = await readPair(files)
    if (!read.ok)
      return logger.error({ problem: read.problem }, 'the certificate cannot be used: the one before it stays')
    // A change of either file is noticed by itself.
    if (read.pair.cert.equals(current.cert) && read.pair.key.equals(current.key)) return
    current = read.pair
    logger.info({ validTo: leafOf(current).validTo }, 'the certificate has changed')
    warnOfEnd(current, logger)
    for (const changed of listeners) changed()
  }
  let reloading = Promise.resolve()
  const watching = watchFiles([files.certFile, files.keyFile], () => {
    reloading = reloading.then(reload)
  })
  return {
    get current() {
      return current
    },
    get end() {
      return new Date(leafOf(current).validTo)
    },
    onChange: (changed) => void listeners.push(changed),
    [Symbol.dispose]: () => watching[Symbol.dispose](),
  }
}

/** A problem never contains what was read. */
async function readPair({ certFile, keyFile }: NonNullable<Config['tls']>): Promise<Read> {
  const [cert, key] = await Promise.all([readPem(certFile), readPem(keyFile)])
  if ('problem' in cert) return { ok: false, problem: `PHASELINE_TLS_CERT: ${cert.problem}` }
  if ('problem' in key) return { ok: false, problem: `PHASELINE_TLS_KEY: ${key.problem}` }
  const pair = { cert: cert.pem, key: key.pem }
  try {
    createSecureContext(contextOf(pair))
    leafOf(pair)
    return { ok: true, pair }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const problem = `PHASELINE_TLS_CERT and PHASELINE_TLS_KEY: ${certFile} and ${keyFile} are no certificate in PEM with its key (${reason})`
    return { ok: false, problem }
  }
}

async function readPem(path: string): Promise<{ readonly pem: Buffer } | { readonly problem: string }> {
  try {
    return { pem: await readFile(path) }
  } catch (error) {
    return { problem: `${path} cannot be read (${codeOf(error)})` }
  }
}

const leafOf = ({ cert }: Pair): X509Certificate => new X509Certificate(cert)

function warnOfEnd(pair: Pair, logger: Logger): void {
  const { validTo } = leafOf(pair)
  if (Date.parse(validTo) < Date.now()) logger.warn({ validTo }, 'the certificate has expired: clients refuse it')
}

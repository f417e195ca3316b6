import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '../../../../agents/files/remove-tree.ts'
import { codeOf } from '../../../../process/error-code.ts'
import { DeployError } from '../deploy-error.ts'

/** The program `helm`, version 3 or 4, which needs no cluster here. */
export interface Helm {
  /** A path, or a name to find in PATH. */
  readonly program: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** A file like Docker's `config.json`, with credentials of registries. */
  readonly registries: string | undefined
  readonly timeoutMs: number
  readonly maxBytes: number
}

export interface HelmRun {
  readonly args: readonly string[]
  /** For its standard input. */
  readonly input: string
  readonly signal: AbortSignal
}
export interface HelmOutput {
  readonly stdout: string
  readonly stderr: string
}

export const TIMEOUT_MS = 120_000
export const MAX_BYTES = 8 * 1024 * 1024
const MAX_ERROR = 4_000

/** Variables that fetching a chart may need; helm gets nothing else of the deployer's environment. */
const PASSED_ON = [
  ...['PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
]

/** Runs it in an empty folder of its own, so that neither plugins nor settings of a user play a part. @throws DeployError */
export async function runHelm(helm: Helm, run: HelmRun): Promise<HelmOutput> {
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-helm-'))
  try {
    return await execute(helm, run, folder)
  } finally {
    await removeTree(folder)
  }
}

function execute(helm: Helm, { args, input, signal }: HelmRun, folder: string): Promise<HelmOutput> {
  const { program, timeoutMs, maxBytes } = helm
  const registries = helm.registries === undefined ? [] : [`--registry-config=${helm.registries}`]
  const options = { cwd: folder, env: envOf(helm, folder), timeout: timeoutMs, maxBuffer: maxBytes, signal }
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...args, ...registries],
      { ...options, killSignal: 'SIGKILL' },
      (error, out, err) => {
        if (!error) return resolve({ stdout: out, stderr: err })
        reject(signal.aborted ? error : new DeployError('HELM_FAILED', reasonOf(helm, error, err)))
      },
    )
    // It may end before it has read all.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

function reasonOf({ timeoutMs, maxBytes }: Helm, error: Error & { killed?: boolean }, stderr: string): string {
  const code = codeOf(error)
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `Helm has written more than ${maxBytes} bytes.`
  if (error.killed === true) return `Helm was ended after ${timeoutMs} milliseconds.`
  if (!/^\d+$/.test(code)) return `Helm could not be started: ${code}.`
  return stderr.trim().slice(-MAX_ERROR) || `Helm has ended with exit code ${code}.`
}

const envOf = ({ env }: Helm, folder: string): Record<string, string> => ({
  ...Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
  HOME: folder,
  TMPDIR: folder,
  HELM_CACHE_HOME: join(folder, 'cache'),
  HELM_CONFIG_HOME: join(folder, 'config'),
  HELM_DATA_HOME: join(folder, 'data'),
})

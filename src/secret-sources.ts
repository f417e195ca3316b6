import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'

/** The value of a secret setting. A problem never contains the value. */
export type ReadSecret = { readonly secret: string } | { readonly problem: string }

/** No secret is larger. */
const MAX_BYTES = 64 * 1024
const MAX_SIZE = `${MAX_BYTES / 1024} KiB`
/** A vault that takes longer does not answer. */
const COMMAND_MS = 10_000

export async function readSecretFile(path: string): Promise<ReadSecret> {
  try {
    await using file = await open(path)
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(MAX_BYTES + 1) })
    if (bytesRead > MAX_BYTES) return { problem: `its file is larger than ${MAX_SIZE}` }
    const secret = buffer.toString('utf8', 0, bytesRead).trim()
    return secret === '' ? { problem: 'its file is empty' } : { secret }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return { problem: `its file cannot be read (${code})` }
  }
}

/**
 * Returns the command's standard output. Words are separated by white space: there is no shell, and there are no
 * quotes. Standard error is dropped, since it may repeat the secret.
 */
export function runSecretCommand(command: string, env: NodeJS.ProcessEnv, timeoutMs = COMMAND_MS): Promise<ReadSecret> {
  const [program = '', ...args] = command.trim().split(/\s+/)
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES, encoding: 'utf8' } as const
  return new Promise((resolve) => {
    const child = execFile(program, args, { ...limits, env }, (error, stdout) => {
      const secret = stdout.trim()
      if (error) resolve({ problem: `its command ${whyFailed(error, timeoutMs)}` })
      else resolve(secret === '' ? { problem: 'its command prints nothing' } : { secret })
    })
    child.stdin?.end()
  })
}

/** The message of the error is not used: it has standard error in it. */
function whyFailed({ code, killed, signal }: ExecError, timeoutMs: number): string {
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `prints more than ${MAX_SIZE}`
  if (killed) return `has not ended within ${timeoutMs / 1_000} s`
  if (typeof code === 'number') return `has failed (exit code ${code})`
  return signal ? `has failed (${signal})` : `cannot be run (${code ?? 'unknown error'})`
}

interface ExecError {
  readonly code?: string | number | null | undefined
  readonly killed?: boolean | undefined
  readonly signal?: NodeJS.Signals | null | undefined
}

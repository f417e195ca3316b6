import { readFile, stat } from 'node:fs/promises'
import type { Logger } from '../logger.ts'
import { watchFiles } from '../process/watch-files.ts'
import { type AccessPolicy, type ReadPolicy, readPolicy } from './access-policy.ts'

const MAX_BYTES = 1024 * 1024

/** The access policy cannot be used: `problems` are for the operator. */
export class PolicyProblem extends Error {
  override name = 'PolicyProblem'
}

export interface WatchedPolicy extends Disposable {
  readonly current: AccessPolicy
}

/**
 * Reads the policy, and again whenever its file changes. One that is not valid any more is reported, and the one before
 * stays.
 * @throws PolicyProblem when the first one is not valid
 */
export async function watchPolicy(
  file: string,
  { logger, changed }: { readonly logger: Logger; readonly changed: () => void },
): Promise<WatchedPolicy> {
  const first = await readFrom(file)
  if (!first.ok) throw new PolicyProblem(`The access policy is not valid:\n${first.problems.join('\n')}`)
  let current = first.policy
  const reload = async (): Promise<void> => {
    const read = await readFrom(file)
    if (!read.ok) {
      logger.error({ problems: read.problems }, 'the access policy is not valid: the one before it stays')
      return
    }
    current = read.policy
    logger.info({ file }, 'the access policy has changed')
    changed()
  }
  let reloading = Promise.resolve()
  const watching = watchFiles([file], () => {
    reloading = reloading.then(reload)
  })
  return {
    get current() {
      return current
    },
    [Symbol.dispose]: () => watching[Symbol.dispose](),
  }
}

async function readFrom(file: string): Promise<ReadPolicy> {
  try {
    if ((await stat(file)).size > MAX_BYTES)
      return { ok: false, problems: [`${file}: has more than ${MAX_BYTES} bytes`] }
    return readPolicy(await readFile(file, 'utf8'), file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return { ok: false, problems: [`${file}: cannot be read (${code})`] }
  }
}

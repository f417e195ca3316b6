import { isDatabaseUnavailable } from '../core/database-unavailable.ts'
import { problemOfSurroundings } from '../core/surroundings.ts'
import { PolicyProblem } from '../oidc/watched-policy.ts'
import { FolderInUse } from '../process/folder-lock.ts'
import { UnsafeFolder } from '../process/own-folder.ts'
import { SecretKeyProblem } from '../secret-keys.ts'
import { EmbeddedPostgresProblem } from '../store/embedded/problem.ts'
import { MigrationError } from '../store/migrate.ts'

/** A reason why the server cannot start that its operator can put right: it is printed in one line, without a stack. */
export class StartProblem extends Error {
  override name = 'StartProblem'
  /** The same start may succeed later, with nothing changed here. */
  readonly isTemporary: boolean

  constructor(message: string, { isTemporary = false, ...options }: ErrorOptions & { isTemporary?: boolean } = {}) {
    super(message, options)
    this.isTemporary = isTemporary
  }
}

/** Their messages name the remedy. */
const EXPLAINED = [FolderInUse, UnsafeFolder, MigrationError, PolicyProblem, SecretKeyProblem]

/** Turns errors of the environment into a StartProblem. Any other error is a defect and stays what it is. */
export function explainStartError(error: unknown): never {
  if (error instanceof Error && EXPLAINED.some((kind) => error instanceof kind))
    throw new StartProblem(error.message, { cause: error, isTemporary: isDatabaseUnavailable(error) })
  if (error instanceof StartProblem) throw error
  if (error instanceof EmbeddedPostgresProblem)
    throw new StartProblem(error.message, { cause: error, isTemporary: error.isTemporary })
  if (isDatabaseUnavailable(error)) {
    const { message } = error as Error
    throw new StartProblem(`The server cannot start, since it has lost its database: ${message}`, {
      ...{ cause: error, isTemporary: true },
    })
  }
  // System errors and those of Postgres have codes, e.g. EADDRINUSE or 28P01.
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const problem = problemOfSurroundings(error) ?? (error.message || error.code)
    throw new StartProblem(`The server cannot start: ${problem}`, { cause: error })
  }
  throw error
}

import * as git from '../../../../agents/git/clone.ts'
import { type CloneOptions, isPermitted } from '../../../../agents/git/clone-options.ts'
import { refProblem } from '../../../../core/repository.ts'
import { type Repository, StartProblem } from './runtime.ts'

/**
 * Clones the repository of a workload on this machine, and returns its commit.
 * @throws StartProblem
 */
export async function cloneRepository(
  repository: Repository,
  place: Omit<git.ClonePlace, 'seen'>,
): Promise<string | null> {
  requireCloneable(repository, place.options)
  try {
    return (await git.cloneRepository(repository, place)).commit
  } catch (error) {
    throw error instanceof git.CloneProblem ? new StartProblem(error.message, 'CLONE_FAILED') : error
  }
}

/** @throws StartProblem */
export function requireCloneable({ url, ref, problem }: Repository, options: CloneOptions): void {
  if (problem !== null) throw new StartProblem(problem, 'CLONE_FAILED')
  requirePermitted(url, options)
  const wrong = ref === null ? null : refProblem(ref)
  if (wrong) throw new StartProblem(`The ref ${JSON.stringify(ref?.slice(0, 200))} ${wrong}.`, 'CLONE_FAILED')
}

/** @throws StartProblem when the runtime does not clone from there */
export function requirePermitted(url: string, { hosts }: Pick<CloneOptions, 'hosts'>): void {
  if (isPermitted(url, { hosts })) return
  const named = hosts.length > 0 ? `names ${hosts.join(', ')}` : 'names no host'
  const where = '--clone-hosts of the runtime, or PHASELINE_CLONE_HOSTS of the server with a runtime of its own,'
  throw new StartProblem(`Its runtime does not clone ${url}: ${where} ${named}.`, 'CLONE_FAILED')
}

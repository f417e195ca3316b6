import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnProgram } from './processes.ts'

export interface Checkout {
  readonly folder: string
  /** A short name of its commit, with `-dirty` when files differ from it. */
  readonly name: string
}

/** The folder of this checkout. */
export const THIS_CHECKOUT = join(import.meta.dirname, '..')

/** This checkout, with its changes that are not committed. */
export const thisCheckout = (): Checkout => ({ folder: THIS_CHECKOUT, name: nameOf(THIS_CHECKOUT) })

/**
 * Another commit in a worktree of its own, with its own dependencies and generated files; `resources` removes it. Throws
 * when git does not know the commit, or when it does not install.
 */
export async function checkOut(ref: string, resources: AsyncDisposableStack): Promise<Checkout> {
  const commit = commitOf(ref)
  const folder = join(mkdtempSync(join(tmpdir(), 'phaseline-bench-checkout-')), commit.slice(0, 7))
  git(THIS_CHECKOUT, 'worktree', 'add', '--quiet', '--detach', folder, commit)
  resources.defer(() => void git(THIS_CHECKOUT, 'worktree', 'remove', '--force', folder))
  await install(folder)
  return { folder, name: nameOf(folder) }
}

/** Builds need not be silent: what they print is shown only when they fail. */
async function install(folder: string): Promise<void> {
  const { child, ended } = spawnProgram('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let printed = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  if ((await ended) !== 0) throw new Error(`npm ci failed in ${folder}:\n${printed}`)
}

function commitOf(ref: string): string {
  try {
    return git(THIS_CHECKOUT, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)
  } catch {
    throw new Error(`git knows no commit ${ref}: --against wants a commit, a branch or a tag`)
  }
}

const nameOf = (folder: string): string => git(folder, 'describe', '--always', '--dirty', '--exclude=*')

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim()

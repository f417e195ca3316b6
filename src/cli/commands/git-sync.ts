import { type Command, InvalidArgumentError, Option } from 'commander'
import { refProblem, repositoryProblem } from '../../core/repository.ts'
import type { Cli } from '../cli.ts'
import { withPruneOptions } from '../manifests/prune.ts'
import { parseFiles, parseLength } from '../options.ts'
import { withSessionOptions } from '../session.ts'
import type { FollowOptions } from './follow-repository.ts'

/** Documents, and what they name beside them. */
const SIZE = '256m'
const SECONDS = '120'

/** `phaseline git-sync`: follows a branch or a tag, and applies what differs. */
export function addGitSync(command: Command, cli: Cli): void {
  withPruneOptions(withSessionOptions(command))
    .requiredOption('--repository <url>', 'address that begins with https://; credentials are no part of it')
    .option('--ref <ref>', 'branch, tag or full ref (otherwise the default branch)')
    .option('--path <path...>', 'folders, files or patterns in the repository, as -f of apply has them', parseFiles)
    .option('--project <name>', 'project of documents that name none (default: "default")')
    .addOption(every('--interval <duration>', 'how often it asks for a new commit', 60_000, '60s'))
    .addOption(every('--heal <duration>', 'how often it compares objects while the commit stays', 300_000, '5m'))
    .option('--once', 'end after one comparison')
    .option('--dry-run', 'print the plan of each commit, and do nothing')
    .option('--no-reconcile', 'write specs, but start no jobs')
    .option('--env <names>', 'variables that documents may read, with commas between (otherwise none)')
    .option('--credentials-file <file>', 'token or user:password for the repository (or PHASELINE_GIT_CREDENTIALS)')
    .option('--clone-hosts <hosts>', 'hosts that it may ask: names, *.example.com, http://… or file://… (otherwise *)')
    .option('--clone-size <size>', 'the most that a clone may take', SIZE)
    .option('--clone-seconds <seconds>', 'the longest that a clone may take', SECONDS)
    .action(async (options: FollowOptions) => {
      const problem = problemOf(options)
      if (problem !== null) command.error(`error: ${problem}`)
      // Loaded only here: every other command starts without the agents.
      const { followRepository } = await import('./follow-repository.ts')
      const { UsageError } = await import('../../agents/arguments.ts')
      try {
        cli.exitCode = await followRepository(cli, options)
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        command.error(`error: ${error.message}`)
      }
    })
}

const every = (flags: string, description: string, ms: number, shown: string): Option =>
  new Option(flags, description).argParser(parseInterval).default(ms, shown)

function parseInterval(text: string): number {
  const ms = parseLength(text)
  if (ms < 1_000 || ms > 24 * 3_600_000) throw new InvalidArgumentError('Expected 1s to 24h.')
  return ms
}

/** It never repeats the address, which may hold a password. */
function problemOf({ repository, ref }: FollowOptions): string | null {
  if (/^[^/]*\/\/[^/]*@/.test(repository))
    return '--repository must not hold credentials: use PHASELINE_GIT_CREDENTIALS or --credentials-file'
  const problem = repositoryProblem(repository)
  if (problem !== null) return `--repository ${problem}`
  const wrong = ref === undefined ? null : refProblem(ref)
  return wrong === null ? null : `--ref ${wrong}`
}

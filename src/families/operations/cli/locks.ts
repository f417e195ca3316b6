import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { parseCount } from '../../../cli/options.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { type LocksOptions, listLocks } from './tasks/locks.ts'

/** `phaseline locks`: the resources that jobs of tasks hold and wait for. */
export function addLocks(program: Command, cli: Cli): void {
  withSessionOptions(program.command('locks'))
    .description('show which jobs hold locks on resources, and which wait for them, in order')
    .option('--resource <resource>', 'only on this one, such as host:web-1')
    .option('--limit <count>', 'list at most this many', parseCount, 200)
    .action(async (options: SessionOptions & LocksOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => listLocks(session, options))
    })
}

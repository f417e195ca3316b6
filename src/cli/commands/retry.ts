import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { type RetryOptions, retryObject } from '../objects/retry-object.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'

/** `phaseline retry NAME`: what failed is run again, and what succeeded is not. */
export function addRetry(program: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(program.command('retry')))
    .description('run again what failed of an installation or event, and only that')
    .argument('<name>', 'id, or path; of what it belongs to, all that failed is run again')
    .option('--wait', 'follow the tree until it is finished')
    .action(async (name: string, options: SessionOptions & AddressOptions & RetryOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locate(session, name, options)
        return located.ok ? await retryObject(session, located.value, options) : session.refuse(located.refusal)
      })
    })
}

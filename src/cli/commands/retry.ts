import { type Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { resolveBackoff } from '../objects/resolve-backoff.ts'
import { type RetryOptions, retryObject } from '../objects/retry-object.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'

interface Options extends SessionOptions, AddressOptions, RetryOptions {
  readonly now?: boolean
  readonly giveUp?: boolean
}

/** `phaseline retry NAME`: what failed is run again, and what succeeded is not. */
export function addRetry(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path; of what it belongs to, all that failed is run again')
    .option('--wait', 'follow the tree until it is finished')
    .addOption(
      new Option('--now', 'begin the next attempt of an object that waits for it at once').conflicts([
        'giveUp',
        'wait',
      ]),
    )
    .addOption(
      new Option('--give-up', 'make the failure of its last attempt final instead of another attempt').conflicts(
        'wait',
      ),
    )
    .action(async (name: string, options: Options) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locate(session, name, options)
        if (!located.ok) return session.refuse(located.refusal)
        if (options.now || options.giveUp) return await resolveBackoff(session, located.value, options.giveUp === true)
        return await retryObject(session, located.value, options)
      })
    })
}

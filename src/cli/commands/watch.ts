import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { follow } from '../objects/follow.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'

interface WatchCommandOptions extends SessionOptions, AddressOptions {
  readonly keep?: boolean
}

/** `phaseline watch NAME`: the live tree. */
export function addWatch(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path such as shop/backend')
    .option('--keep', 'keep watching when it is finished')
    .action(async (name: string, options: WatchCommandOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locate(session, name, options)
        if (!located.ok) return session.refuse(located.refusal)
        const { id, root } = located.value
        const until = options.keep ? 'never' : 'finished'
        return await follow(session, root.id, ({ outcome }) => outcome === 'succeeded' || outcome === 'gone', {
          until,
          focusId: id,
        })
      })
    })
}

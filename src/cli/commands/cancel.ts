import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { type CancelOptions, cancelObject } from '../objects/cancel-object.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'

/** `phaseline cancel NAME`: starts nothing new, and requests that running work stops. */
export function addCancel(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path')
    .option('--reason <text>', 'why, for the log')
    .option('--wait', 'follow the tree until nothing runs any more')
    .action(async (name: string, options: SessionOptions & AddressOptions & CancelOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locate(session, name, options)
        return located.ok ? await cancelObject(session, located.value, options) : session.refuse(located.refusal)
      })
    })
}

import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { type DeleteOptions, deleteObject } from '../objects/delete-object.ts'
import { parseFlag } from '../options.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'

/** `phaseline delete NAME`. */
export function addDelete(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path')
    .option('--force', 'installations: even while a sibling imports from it')
    .option('--without-uninstall', 'installations: forget the items without asking their deployers')
    .option('--cascade', 'cloudlets and cluster instances: with the instances on them')
    .option('--flag <name>', 'another flag of the deletion of its kind', parseFlag)
    .option('--wait', 'follow the tree until it is gone')
    .option('-y, --yes', 'do not ask first, on a terminal')
    .action(async (name: string, options: SessionOptions & AddressOptions & DeleteOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locate(session, name, options)
        return located.ok ? await deleteObject(session, located.value, options) : session.refuse(located.refusal)
      })
    })
}

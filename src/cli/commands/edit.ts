import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type EditOptions, editInstallation } from '../manifests/edit-installation.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'

/** `phaseline edit NAME`: the manifest of a root installation in the user's editor, and then applied. */
export function addEdit(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path')
    .option('--wait', 'follow the tree until it is finished')
    .option('--no-reconcile', 'write the spec, but start no job')
    .action(async (name: string, options: SessionOptions & AddressOptions & EditOptions) => {
      if (options.wait && !options.reconcile) command.error('error: --wait needs a job to wait for')
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locate(session, name, options)
        return located.ok ? await editInstallation(session, located.value, options) : session.refuse(located.refusal)
      })
    })
}

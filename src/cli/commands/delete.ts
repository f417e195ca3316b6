import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type DeleteOptions, deleteObject, flagsOf } from '../objects/delete-object.ts'
import { onObjects } from '../objects/object-command.ts'
import { parseFlag } from '../options.ts'

/** `phaseline delete NAME…`. */
export function addDelete(command: Command, cli: Cli): void {
  onObjects<DeleteOptions>(command, cli, deleteObject, {
    verb: () => 'delete',
    flags: flagsOf,
    isWanted: ({ outcome }) => outcome === 'gone',
  })
    .option('--force', 'installations: even while a sibling imports from it')
    .option('--without-uninstall', 'installations: forget the items without asking their deployers')
    .option('--cascade', 'cloudlets and cluster instances: with the instances on them')
    .option('--flag <name>', 'another flag of the deletion of its kind', parseFlag)
    .option('--wait', 'follow the trees until they are gone')
}

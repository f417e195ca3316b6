import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type CancelOptions, cancelObject } from '../objects/cancel-object.ts'
import { onObjects } from '../objects/object-command.ts'

/** `phaseline cancel NAME…`: starts nothing new, and requests that running work stops. */
export function addCancel(command: Command, cli: Cli): void {
  onObjects<CancelOptions>(command, cli, cancelObject, {
    verb: () => 'cancel',
    only: { finished: false },
    // A job that succeeded before the request was not cancelled.
    isWanted: ({ outcome }) => outcome !== 'succeeded',
  })
    .option('--reason <text>', 'why, for the log')
    .option('--wait', 'follow the trees until nothing runs any more')
}

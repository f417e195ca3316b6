import { type Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import { onObjects } from '../objects/object-command.ts'
import { resolveBackoff } from '../objects/resolve-backoff.ts'
import { type RetryOptions, retryObject } from '../objects/retry-object.ts'

interface Options extends RetryOptions {
  readonly now?: boolean
  readonly giveUp?: boolean
}

/** `phaseline retry NAME…`: what failed of what they belong to is run again, and what succeeded is not. */
export function addRetry(command: Command, cli: Cli): void {
  onObjects<Options>(
    command,
    cli,
    (session, object, options) =>
      options.now || options.giveUp
        ? resolveBackoff(session, object, options.giveUp === true)
        : retryObject(session, object, options),
    {
      verb: ({ now, giveUp }) => (now || giveUp ? null : 'retry'),
      only: { classes: ['FAILED', 'STOPPED'] },
      isWanted: ({ outcome }) => outcome === 'succeeded',
    },
  )
    .option('--wait', 'follow the trees until they are finished')
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
}

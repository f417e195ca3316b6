import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { type KeepOptions, keepSeals } from '../verify/keep-seals.ts'

/** `phaseline seals`: the seals of the log, to keep elsewhere. */
export function addSeals(command: Command, cli: Cli): void {
  withSessionOptions(command)
    .option('--to <file>', 'append those that the file lacks, once each follows from the last one in it')
    .option('--key <file...>', 'public keys that may have signed, in PEM')
    .action(async (options: SessionOptions & KeepOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => keepSeals(session, options))
    })
}

import type { Command } from 'commander'
import { allMachines } from '../../families/machines.ts'
import type { Cli } from '../cli.ts'
import { type VerifyOptions, verify } from '../verify/verify.ts'

/** `phaseline verify FILES…`: an export of the log, by itself. It calls no server. */
export function addVerify(command: Command, cli: Cli): void {
  command
    .argument(
      '<files...>',
      'lines of the log in their order; of a folder its files *.ndjson, in the order of their names',
    )
    .option('--seals <file>', 'the seals of the log, as `phaseline seals` prints them')
    .option('--heads <file...>', 'seals that were kept elsewhere')
    .option('--key <file...>', 'public keys that may have signed, in PEM')
    .option('--machines <file...>', 'tables of `phaseline machines --json` (otherwise those of this version)')
    .option('--allow-lost', 'what a restore or a failover has lost is no failure')
    .option('--json', 'print JSON')
    .action(async (files: readonly string[], options: VerifyOptions) => {
      cli.exitCode = await verify(files, options, { io: cli.io, machines: allMachines })
    })
}

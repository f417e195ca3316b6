import type { Command } from 'commander'
import type { FamilyDefinition } from '../../families/define-family.ts'
import type { Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit.ts'
import { printLine } from '../terminal/io.ts'

/** `phaseline serve`: the server, embedded or not as the environment says. */
export function addServe(program: Command, cli: Cli, families: readonly FamilyDefinition[]): void {
  program
    .command('serve')
    .description('run the server: playground, GraphQL API and engine on one port')
    .option('--no-example', 'start without the example tree')
    .action(async ({ example }: { readonly example: boolean }) => {
      // Loaded only here: every other command is a client and must start fast.
      const { serve, StartProblem } = await import('../../serve.ts')
      try {
        await serve({ example, signal: cli.io.signal, families })
        cli.exitCode = EXIT.ok
      } catch (error) {
        if (!(error instanceof StartProblem)) throw error
        printLine(cli.io.stderr, error.message)
        cli.exitCode = EXIT.usage
      }
    })
}

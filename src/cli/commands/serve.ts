import type { Command } from 'commander'
import type { FamilyDefinition } from '../../families/define-family.ts'
import type { Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit.ts'
import { printLine, printText } from '../terminal/io.ts'

const SETTINGS = `
Settings come from the environment, all optional:
  PORT, HOST                              where it listens (4000, 127.0.0.1); --port and --host go before them
  PHASELINE_TLS_CERT, PHASELINE_TLS_KEY   files for https, read again when they change
  PHASELINE_TOKEN                         the administrator's token, else generated
  PHASELINE_ACCESS_POLICY                 file of the issuers that sign people in
  DATABASE_URL, REDIS_URL                 Postgres, else an embedded one; Redis between processes
  DATABASE_READ_URL                       replicas that answer queries, none of them stale
  PHASELINE_ADMIN_PORT                    health and metrics, of any role
  PHASELINE_ROLES                         what this process does (gateway,engine,agents)
docs/operations.md lists all of them.`

interface Options {
  readonly example: boolean
  readonly port?: string
  readonly host?: string
}

/** `phaseline serve`: the server, embedded or not as the environment says. */
export function addServe(command: Command, cli: Cli, families: readonly FamilyDefinition[]): void {
  command
    .option('--port <port>', 'port of the server, 0 for any free one (otherwise PORT, or 4000)')
    .option('--host <host>', 'address that it listens on (otherwise HOST, or 127.0.0.1)')
    .option('--no-example', 'start without the example tree')
    .addHelpText('after', SETTINGS)
    .action(async ({ example, port, host }: Options) => {
      // Loaded only here: every other command is a client and must start fast.
      const { serve, StartProblem } = await import('../../serve.ts')
      try {
        const say = (text: string): void => printLine(cli.io.stdout, text)
        const options = [
          { name: '--port', setting: 'PORT', value: port },
          { name: '--host', setting: 'HOST', value: host },
        ]
        await serve({ example, options, say, signal: cli.io.signal, families })
        cli.exitCode = EXIT.ok
      } catch (error) {
        if (!(error instanceof StartProblem)) throw error
        printText(cli.io.stderr, `${error.message}\n`)
        cli.exitCode = error.isTemporary ? EXIT.unavailable : EXIT.usage
      }
    })
}

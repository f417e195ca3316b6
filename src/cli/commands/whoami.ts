import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { askWho, describeWho } from '../login/who.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT } from '../terminal/exit.ts'

/** `phaseline whoami`: whom the server takes the caller for, and why. */
export function addWhoami(command: Command, cli: Cli): void {
  withSessionOptions(command).action(async (options: SessionOptions) => {
    cli.exitCode = await withSession(cli.io, options, async (session) => {
      const { url, source } = session.connection
      const viewer = await askWho(session.client, session.io.signal)
      session.emit({ viewer, url, source })
      session.say(describeWho(viewer), `  server  ${url}`, `  token   ${source}`)
      return EXIT.ok
    })
  })
}

import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { pauseObject } from '../objects/pause-object.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'

interface Options extends SessionOptions, AddressOptions {
  readonly reason?: string
}

/** `phaseline pause NAME`, `phaseline resume NAME`: a tree begins nothing new for a while. */
export function addPause(program: Command, cli: Cli): void {
  const command = (verb: 'pause' | 'resume') =>
    withSessionOptions(withAddressOptions(program.command(verb)))
      .argument('<name>', 'id, or path, of a root')
      .action(async (name: string, { reason, ...options }: Options) => {
        cli.exitCode = await withSession(cli.io, options, async (session) => {
          const located = await locate(session, name, options)
          if (!located.ok) return session.refuse(located.refusal)
          return await pauseObject(session, located.value, { verb, ...(reason === undefined ? {} : { reason }) })
        })
      })
  command('pause')
    .description('hold back new work of an installation, event, task, cloudlet or schedule')
    .option('--reason <text>', 'shown while it is paused')
  command('resume').description('resume a paused installation, event, task, cloudlet or schedule')
}

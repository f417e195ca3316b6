import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { pauseObject } from '../objects/pause-object.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'

interface Options extends SessionOptions, AddressOptions {
  readonly reason?: string
}

/** `phaseline pause NAME`: a tree begins nothing new for a while. */
export function addPause(command: Command, cli: Cli): void {
  addVerb(command, cli, 'pause').option('--reason <text>', 'shown while it is paused')
}

/** `phaseline resume NAME`. */
export function addResume(command: Command, cli: Cli): void {
  addVerb(command, cli, 'resume')
}

const addVerb = (command: Command, cli: Cli, verb: 'pause' | 'resume'): Command =>
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path, of a root')
    .action(async (name: string, { reason, ...options }: Options) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locate(session, name, options)
        if (!located.ok) return session.refuse(located.refusal)
        return await pauseObject(session, located.value, { verb, ...(reason === undefined ? {} : { reason }) })
      })
    })

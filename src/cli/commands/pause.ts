import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { onObjects } from '../objects/object-command.ts'
import { pauseObject } from '../objects/pause-object.ts'

interface Options {
  readonly reason?: string
}

/** `phaseline pause NAME…`: trees begin nothing new for a while. */
export function addPause(command: Command, cli: Cli): void {
  addVerb(command, cli, 'pause').option('--reason <text>', 'shown while it is paused')
}

/** `phaseline resume NAME…`. */
export function addResume(command: Command, cli: Cli): void {
  addVerb(command, cli, 'resume')
}

const addVerb = (command: Command, cli: Cli, verb: 'pause' | 'resume'): Command =>
  onObjects<Options>(
    command,
    cli,
    (session, object, { reason }) =>
      pauseObject(session, object, { verb, ...(reason === undefined ? {} : { reason }) }),
    { verb: () => verb },
  )

import { type Command, Option } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { locateKind, type ProjectOption } from '../../../cli/objects/object-command.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { resolveUndo } from './tasks/resolve.ts'

interface ResolveOptions extends SessionOptions, ProjectOption {
  readonly retry?: boolean
  readonly giveUp?: boolean
}

/** `phaseline undo resolve JOB`: an operator decides on a job in UNDO_FAILED. */
export function addUndo(undo: Command, cli: Cli): void {
  const resolve = undo.command('resolve')
  withSessionOptions(resolve)
    .description('decide on a job that could not be undone: until then it keeps its locks')
    .argument('<job>', 'id, copy/dump, or ops/copy/dump')
    .option('--project <name>', 'project of the task (default: "default")')
    .addOption(new Option('--retry', 'do again what has failed: its undo, or its clean-up').conflicts('giveUp'))
    .option('--give-up', 'leave it as it is, and release its locks')
    .action(async (text: string, options: ResolveOptions) => {
      if (!options.retry && !options.giveUp) resolve.error('error: one of --retry and --give-up is needed')
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locateKind(session, text, 'GADGET_JOB', options)
        if (!located.ok) return session.refuse(located.refusal)
        return await resolveUndo(session, located.value, options.retry ? 'RETRY' : 'GIVE_UP')
      })
    })
}

import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { exportProject } from '../manifests/export-project.ts'
import { type LabelArgument, parseSelector } from '../options.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'

interface ExportOptions extends SessionOptions {
  readonly project: string
  readonly selector?: readonly LabelArgument[]
}

/** `phaseline export`: all documents of a project, as `apply` takes them. */
export function addExport(command: Command, cli: Cli): void {
  withSessionOptions(command)
    .option('--project <name>', 'project', 'default')
    .option('--selector <key=value,…>', 'only objects with these labels', parseSelector)
    .action(async (options: ExportOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) =>
        exportProject(session, (await cli.documentKinds()).kinds, options),
      )
    })
}

import type { Command } from 'commander'
import { notFoundRefusal } from '../../client-model/index.ts'
import type { Cli } from '../cli.ts'
import { exportNamed, exportProjects } from '../manifests/export-documents.ts'
import { type AddressOptions, withAddressOptions } from '../objects/address.ts'
import { type LabelArgument, parseSelector } from '../options.ts'
import { readProject, readProjectNames } from '../projects/api.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import type { ExitCode } from '../terminal/exit.ts'

interface ExportOptions extends SessionOptions, AddressOptions {
  readonly allProjects?: boolean
  readonly selector?: readonly LabelArgument[]
}

/** `phaseline export [NAME…]`: documents as `apply` takes them, of objects, a project or all projects. */
export function addExport(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('[names...]', 'ids, or paths of roots; without them, all of the project')
    .option('-A, --all-projects', 'all of each project that you may read')
    .option('--selector <key=value,…>', 'only objects with these labels', parseSelector)
    .action(async (names: readonly string[], options: ExportOptions) => {
      const { allProjects, project, selector, kind } = options
      if (allProjects && project !== undefined) command.error('error: --all-projects is of no one --project')
      if (names.length > 0 && (allProjects || selector))
        command.error('error: names are chosen by no --selector and no --all-projects')
      if (names.length === 0 && kind) command.error('error: --kind is of a name')
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        if (names.length > 0) return await exportNamed(session, await cli.exportables(), names, options)
        const { kinds } = await cli.documentKinds()
        if (allProjects) return await exportProjects(session, kinds, await readProjectNames(session), selector)
        return (
          (await refuseMissing(session, project)) ??
          (await exportProjects(session, kinds, [project ?? 'default'], selector))
        )
      })
    })
}

async function refuseMissing(session: Session, project = 'default'): Promise<ExitCode | null> {
  if (await readProject(session, project)) return null
  return session.refuse(notFoundRefusal(`There is no project ${project} that you may read.`))
}

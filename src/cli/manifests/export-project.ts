import { notFoundRefusal } from '../../client-model/index.ts'
import { writeYaml } from '../../manifest/index.ts'
import type { LabelArgument } from '../options.ts'
import { readProject } from '../projects/api.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import type { Appliable } from './appliable.ts'

/** Prints the documents of a project, in the order in which `apply` writes them. */
export async function exportProject(
  session: Session,
  kinds: readonly Appliable[],
  { project, selector = [] }: { readonly project: string; readonly selector?: readonly LabelArgument[] },
): Promise<ExitCode> {
  if (!(await readProject(session, project)))
    return session.refuse(notFoundRefusal(`There is no project ${project} that you may read.`))
  for (const kind of kinds.toSorted((a, b) => a.order - b.order))
    for (const document of await kind.export(session, project, selector)) {
      session.emit(document)
      session.say('---', ...writeYaml(document).trimEnd().split('\n'))
    }
  return EXIT.ok
}

import type { PlacedProject } from '../manifests/load-manifests.ts'
import { atSource } from '../manifests/source.ts'
import type { Session } from '../session.ts'
import { EXIT, type ExitCode, worst } from '../terminal/exit.ts'
import { applyProject, describeApplied } from './apply.ts'

/** Applies the projects one after the other and prints each outcome; a refusal does not stop the others. */
export async function applyProjects(
  session: Session,
  projects: readonly PlacedProject[],
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<ExitCode> {
  const codes: ExitCode[] = []
  for (const project of projects) {
    const outcome = await applyProject(session, project, { dryRun })
    if (!outcome.ok) {
      const refusal = atSource(outcome.refusal, project.source)
      codes.push(session.refuse({ ...refusal, message: `project ${project.name}: ${refusal.message}` }))
      continue
    }
    session.emit(dryRun ? { ...outcome.value, dryRun } : outcome.value)
    session.say(describeApplied(outcome.value, dryRun))
  }
  return worst([EXIT.ok, ...codes])
}

import { invalidInput, notFound, type RefusalOf } from '../../../core/errors.ts'
import type { Outcome } from '../../../core/ports/outcome.ts'
import type { Viewer } from '../../../core/ports/viewer.ts'
import { requireRight } from '../../../core/rights.ts'
import { recordDone } from '../../../store/audit.ts'
import type { Client } from '../../../store/client.ts'
import { type HoldRow, removeHold, writeHold } from '../../../store/holds.ts'
import { onProject, refuse } from '../../access.ts'
import { rights } from '../rights.ts'
import type { AutomationParts } from './parts.ts'

/** The switch that stops what happens by itself, in a project or in all of them. */

export interface Held {
  /** Name of the project; null or left out: all of them. */
  readonly project?: string | null
}
type Refusals = RefusalOf<'ForbiddenError' | 'InvalidInputError'>

export async function holdAutomation(
  parts: AutomationParts,
  viewer: Viewer,
  { project, reason }: Held & { readonly reason: string },
): Promise<Outcome<{ readonly hold: HoldRow }, Refusals>> {
  if (reason.trim() === '') return refuse(invalidInput([{ path: 'input.reason', message: 'must not be empty' }]))
  const { system } = parts
  const hold = (client: Client, projectId: string | null) =>
    writeHold(client, { id: system.id(), projectId, reason, by: viewer.name, at: system.now() })
  type Holding = Outcome<{ readonly hold: HoldRow }, never>
  return await within(parts, viewer, project ?? null, async (client, projectId): Promise<Holding> => {
    return { ok: true, hold: await hold(client, projectId) }
  })
}

export async function releaseAutomation(
  parts: AutomationParts,
  viewer: Viewer,
  { project }: Held,
): Promise<Outcome<{ readonly projectId: string | null }, Refusals | RefusalOf<'NotFoundError'>>> {
  type Released = Outcome<{ readonly projectId: string | null }, RefusalOf<'NotFoundError'>>
  return await within(parts, viewer, project ?? null, async (client, projectId): Promise<Released> => {
    const isReleased = await removeHold(client, projectId)
    const where = project == null ? 'of all projects' : `of the project ${project}`
    return isReleased ? { ok: true, projectId } : refuse(notFound(null, 'hold', where))
  })
}

async function within<T extends object, R extends RefusalOf<'NotFoundError'> = never>(
  { trees }: AutomationParts,
  viewer: Viewer,
  project: string | null,
  work: (client: Client, projectId: string | null) => Promise<Outcome<T, R>>,
): Promise<Outcome<T, R | Refusals>> {
  if (project !== null) {
    const access = { right: rights.hold, project }
    return await onProject({ trees }, viewer, access, ({ client, projectId }) => work(client, projectId))
  }
  const refused = requireRight(viewer, { ...rights.hold, everywhere: true })
  if (refused) return refuse(refused)
  return await trees.inRecord('The automation of all projects', async (client) => {
    const done = await work(client, null)
    if (done.ok && viewer.call) await recordDone(client, viewer.call, {})
    return done
  })
}

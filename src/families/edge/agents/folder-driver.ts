import { type CrmContext, type CrmDriver, CrmProblem, type CrmRequest } from '../../../client/index.ts'
import { pause } from '../../../client/pause.ts'
import type { CrmBehaviour } from './behaviour.ts'
import type { Chance } from './chance.ts'
import type { CloudletFolder } from './cloudlet-folder.ts'

export interface FolderDriverOptions {
  readonly folder: CloudletFolder
  readonly behaviour: CrmBehaviour
  readonly chance: Chance
  /** Ends the process. */
  crash(): never
}

/** A driver that makes, changes and removes folders, as its behaviour says. */
export function folderDriver(options: FolderDriverOptions): CrmDriver {
  const { folder } = options

  async function make(request: CrmRequest, context: CrmContext): Promise<void> {
    const { path, spec, specRevision } = request
    const existed = await folder.exists(path)
    try {
      await folder.begin(path)
      await takeSteps(options, request, context)
      await folder.write(path, { spec, specRevision })
    } catch (error) {
      if (!existed) await folder.remove(path)
      throw error
    }
  }

  async function remove(request: CrmRequest, context: CrmContext): Promise<void> {
    const { path } = request
    await takeSteps(options, request, context, () => folder.invalidate(path))
    await folder.remove(path)
  }

  return { list: () => folder.list(), create: make, update: make, delete: remove }
}

/** Takes the configured time; calls `last` at the end, when only the process itself can still fail. */
async function takeSteps(
  { behaviour, chance, crash }: FolderDriverOptions,
  request: CrmRequest,
  context: CrmContext,
  last: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { steps, delayMs, fail, crash: crashes } = behaviour
  const what = labelOf(request)
  const [least, most] = delayMs
  const takesMs = least + (most - least) * chance.number(`delay ${what}`)
  const crashAfter = chance.hits(crashes, `crash ${what}`)
    ? Math.floor(chance.number(`when ${what}`) * (steps + 1))
    : -1
  for (let step = 0; step < steps; step += 1) {
    if (step === crashAfter) crash()
    context.progress(`step ${step + 1} of ${steps}`, step, steps)
    await pause(takesMs / steps, context.signal)
    if (context.signal.aborted) throw new Error('It was stopped.')
  }
  if (chance.hits(fail, `fail ${what}`)) throw new CrmProblem('It failed as configured.', 'SIMULATED')
  await last()
  if (crashAfter === steps) crash()
}

/** Names a request in decisions: the same in each run, unlike ids and fences. */
export const labelOf = ({ action, path }: Pick<CrmRequest, 'action' | 'path'>): string => `${action} ${path.join('/')}`

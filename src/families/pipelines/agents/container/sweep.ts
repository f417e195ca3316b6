import { type Engine, NEVER_RAN } from '../../../../agents/container/engine.ts'
import { containerName, OBJECT_LABEL, volumeName, WORKER_LABEL } from './container-of.ts'
import type { Records } from './records.ts'
import { BESIDE_LABEL, networkName } from './services.ts'

/** An ended container whose REMOVE has not come by then is removed. */
const FORGOTTEN_MS = 86_400_000
/** An engine that is slow may create a container for a runtime that was killed meanwhile. */
const ABANDONED_MS = 600_000

export interface SweepOptions {
  readonly engine: Engine
  readonly records: Records
  /** Something is there that nobody owns. The message names it, and says that it is removed. */
  onFound(message: string): void
  remove(id: string, workspace: string | null): Promise<void>
}

/** Removes containers that nobody has asked to remove, and workspaces whose worker is gone. */
export async function sweep(options: SweepOptions): Promise<void> {
  const { engine, records, onFound } = options
  for (const { Labels, State, Created, Id } of await engine.list()) {
    const beside = Labels[BESIDE_LABEL]
    if (beside !== undefined && !records.get(beside)) {
      onFound(`a service of ${beside} belongs to nobody: it is removed`)
      await engine.remove(Id, true)
    }
    const id = Labels[OBJECT_LABEL]
    if (id === undefined) continue
    if (NEVER_RAN.has(State) && !records.get(id) && ageOf(Created * 1_000) > ABANDONED_MS) {
      onFound(`the container of ${id} was never started, and belongs to nobody: it is removed`)
      await engine.remove(containerName(id), false)
    }
    if (State === 'exited') await removeForgotten(options, id)
  }
  const networks = new Set(records.ids.map(networkName))
  for (const network of await engine.networks()) if (!networks.has(network)) await engine.removeNetwork(network)
  const used = new Set(records.ids.flatMap((id) => [id, records.get(id)?.workspace]))
  for (const { Labels } of await engine.volumes()) {
    const worker = Labels?.[WORKER_LABEL]
    if (worker === undefined || used.has(worker)) continue
    onFound(`the workspace of ${worker} belongs to nobody: it is removed`)
    await engine.removeVolume(volumeName(worker))
  }
}

async function removeForgotten({ engine, records, onFound, remove }: SweepOptions, id: string): Promise<void> {
  const ended = (await engine.inspect(containerName(id)))?.State.FinishedAt
  if (!ended || ageOf(Date.parse(ended)) < FORGOTTEN_MS) return
  onFound(`the container of ${id} has ended long ago, and nobody has asked to remove it: it is removed`)
  await remove(id, records.get(id)?.workerId === id ? id : null)
}

const ageOf = (time: number): number => Date.now() - time

import type { ContainerInspectInfo } from 'dockerode'
import type { Endings } from '../../../../agents/container/endings.ts'
import { type Engine, reasonOf, statusOf } from '../../../../agents/container/engine.ts'
import type { Images } from '../../../../agents/container/images.ts'
import type { WorkContext, WorkItem } from '../../../../client/index.ts'
import { DeployError } from '../deploy-error.ts'
import { ITEM_LABEL } from './container-of.ts'
import { type Config, DEFAULT_GRACE_MS } from './read-config.ts'
import type { SecretFolders } from './secret-folders.ts'
import type { Shared } from './shared.ts'

/** The parts of the deployer that all items share. */
export interface Deployer {
  readonly engine: Engine
  readonly endings: Endings
  readonly images: Images
  readonly secrets: SecretFolders
  readonly shared: Shared
}

/** One item at work. */
export interface Run extends Deployer {
  readonly item: WorkItem
  readonly context: WorkContext
  /** Null: it cannot be read, so that nothing was ever made of it. */
  readonly config: Config | null
}

/** Starts a container that was created. One that cannot be started is removed. @throws DeployError */
export async function startContainer({ engine, context }: Run, id: string): Promise<void> {
  // Its lease may be lost by now, and another deployer may have started its own.
  context.signal.throwIfAborted()
  try {
    // By its id and not by its name, which a newer container may have by now.
    await engine.start(id)
  } catch (error) {
    if (statusOf(error) === 0) throw error
    await engine.remove(id, true)
    throw new DeployError('CONTAINER_START', `It could not be started: ${reasonOf(error)}`)
  }
}

/** Ends a container with grace, and removes it. @throws DeployError when it is not the item's */
export async function discard({ engine, item, config }: Run, found: ContainerInspectInfo): Promise<void> {
  const owner = found.Config.Labels?.[ITEM_LABEL]
  if (owner !== item.objectId)
    throw new DeployError('CONTAINER_NOT_OWNED', `The container ${found.Name.replace(/^\//, '')} is not this item’s.`)
  const { Running, Paused } = found.State
  // One that is paused could not end by itself.
  if (Running && !Paused) await engine.stop(found.Id, config?.graceMs ?? DEFAULT_GRACE_MS)
  await engine.remove(found.Id, true)
}

/** Ends and removes all containers of the item, its secrets, and the networks that nobody else is in. */
export async function discardAll(run: Run): Promise<void> {
  const { engine, item, secrets, shared } = run
  for (const { Id } of await engine.list(`${ITEM_LABEL}=${item.objectId}`)) {
    const found = await engine.inspect(Id)
    if (found) await discard(run, found)
  }
  await secrets.remove(item.objectId)
  await shared.leaveNetworks(item)
}

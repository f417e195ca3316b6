import type { ContainerInfo, ContainerInspectInfo } from 'dockerode'
import type { Engine } from '../../../../agents/container/engine.ts'
import { KeyedQueue } from '../../../../agents/keyed-queue.ts'
import type { WorkItem } from '../../../../client/index.ts'
import { DeployError } from '../deploy-error.ts'
import { endpointsOf, ITEM_LABEL, type NamedContainer, PROJECT_LABEL, sharedName } from './container-of.ts'
import type { Config } from './read-config.ts'

/**
 * Volumes and networks that the containers of a project share. Its id is part of their names, so no other project can name
 * them. Turns keep a network from being removed while another item is about to join it.
 */
export class Shared {
  readonly #engine: Engine
  readonly #turns = new KeyedQueue()
  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Creates a container in its networks, with its volumes. Null: there is a container of that name. @throws DeployError */
  create(item: WorkItem, config: Config, container: NamedContainer): Promise<string | null> {
    return this.#turns.add(item.projectId ?? '', async () => {
      const { projectId } = item
      const [first, ...others] = endpointsOf(item, config)
      if (!projectId && (first || config.volumes.length > 0))
        throw new DeployError('CONTAINER_CONFIG', 'config: volumes and networks need a server that names the project')
      const labels = { [PROJECT_LABEL]: projectId ?? '' }
      for (const { name } of config.volumes)
        await this.#engine.createVolume(sharedName(projectId ?? '', name), { ...labels })
      for (const { network } of first ? [first, ...others] : []) await this.#engine.provideNetwork(network, labels)
      const id = await this.#engine.create(container)
      if (id === null) return null
      // Engines before Docker 25 take one network at the creation.
      for (const { network, settings } of others) await this.#engine.connect(network, id, settings)
      return id
    })
  }

  /** Removes the networks of the project that no container of ours is in, whether it runs or not. */
  leaveNetworks(item: WorkItem): Promise<void> {
    return this.#turns.add(item.projectId ?? '', async () => {
      const { projectId } = item
      if (!projectId) return
      const networks = await this.#engine.networks(`${PROJECT_LABEL}=${projectId}`)
      if (networks.length === 0) return
      const used = new Set((await this.#engine.list(ITEM_LABEL)).flatMap(networksOf))
      for (const network of networks) if (!used.has(network)) await this.#engine.removeNetwork(network)
    })
  }

  /** Removes a volume of the project unless a container has it. Returns false if one does. */
  removeVolume({ projectId }: WorkItem, name: string): Promise<boolean> {
    const project = projectId ?? ''
    return this.#turns.add(project, () => this.#engine.removeVolume(sharedName(project, name)))
  }
}

/** Names of the networks that a container is in. */
export const networksOf = ({ NetworkSettings }: ContainerInfo | ContainerInspectInfo): readonly string[] =>
  Object.keys(NetworkSettings?.Networks ?? {})

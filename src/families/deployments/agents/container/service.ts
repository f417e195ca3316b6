import type { ContainerInspectInfo, HostConfig } from 'dockerode'
import { hasRun } from '../../../../agents/container/engine.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { DeployError } from '../deploy-error.ts'
import {
  CONFIG_LABEL,
  containerName,
  digestOf,
  ITEM_LABEL,
  LOOPBACK,
  SECRETS,
  serviceContainer,
} from './container-of.ts'
import { hostPortOf, untilHealthy } from './health.ts'
import type { Config } from './read-config.ts'
import { discard, type Run, startContainer } from './run.ts'

type Exports = Readonly<Record<string, unknown>>

const CREATE_RETRIES = 8

/** Sees that the service of an item runs as its config says, and waits until it is healthy. @throws DeployError */
export async function deployService(run: Run, config: Config): Promise<Exports> {
  await discardOthers(run)
  const id = await provideService(run, config)
  const healthy = await untilHealthy(run, config, id)
  run.context.report({ progress: { step: 'Healthy' } })
  return exportsOf(healthy, config)
}

/** Containers of the item that have another name, such as one that was renamed: they would hold its ports. */
async function discardOthers(run: Run): Promise<void> {
  const { engine, item, context } = run
  for (const { Id, Names } of await engine.list(`${ITEM_LABEL}=${item.objectId}`)) {
    if (Names.includes(`/${containerName(item.objectId)}`)) continue
    const found = await engine.inspect(Id)
    if (!found) continue
    context.log('STEP', `The container ${found.Name} is removed: it has not the name of the item’s`)
    await discard(run, found)
  }
}

/** The id of the one container of the service, which runs. */
async function provideService(run: Run, config: Config): Promise<string> {
  const { engine, images, secrets, item, context } = run
  const name = containerName(item.objectId)
  for (let failures = 0; failures <= CREATE_RETRIES; failures += 1) {
    const found = await engine.inspect(name)
    const difference = found && (await differenceOf(run, config, found))
    if (found && difference === null) {
      await startAgain(run, found)
      return found.Id
    }
    context.report({ progress: { step: `Providing the image ${config.image}` } })
    await images.provide(config.image, context.signal)
    if (found) {
      context.log('STEP', `The container is replaced: ${difference}`)
      await discard(run, found)
    }
    // Nothing uses those of earlier jobs any more.
    await secrets.remove(item.objectId)
    const container = serviceContainer({ item, config, secretsFolder: await secrets.write(item, config.secrets) })
    context.signal.throwIfAborted()
    const id = await engine.create(container)
    if (id !== null) {
      await startContainer(run, id)
      context.log('STEP', 'The container is created')
      return id
    }
    await pause(retryDelay(failures), context.signal)
    context.signal.throwIfAborted()
  }
  throw new DeployError('CONTAINER_REFUSED', `The engine keeps the name ${name}, and has no such container.`)
}

/** Why a container has to be replaced; null: it is what the config says, but may not run. */
async function differenceOf(run: Run, config: Config, found: ContainerInspectInfo): Promise<string | null> {
  const { Config: made, HostConfig, Mounts, State } = found
  if (made.Labels?.[ITEM_LABEL] !== run.item.objectId) return 'it is not this item’s'
  if (made.Labels[CONFIG_LABEL] !== digestOf(config)) return 'its config has changed'
  const folder = Mounts.find(({ Destination }) => Destination === SECRETS)?.Source ?? null
  if (!(await run.secrets.hasThese(folder, config.secrets))) return 'its secrets have changed'
  if (State.Paused) return 'it was paused from outside'
  return isAsMade(HostConfig, config) ? null : 'it was changed from outside'
}

/**
 * Compares the settings that others can change of a running container. An engine that cannot limit something reports no
 * limit.
 */
const isAsMade = ({ Memory, PidsLimit, RestartPolicy }: HostConfig, { memory, pids }: Config): boolean =>
  (Memory || memory) === memory && (PidsLimit || pids) === pids && RestartPolicy?.Name === 'unless-stopped'

async function startAgain(run: Run, found: ContainerInspectInfo): Promise<void> {
  const { State, Id } = found
  if (State.Running || State.Restarting) return run.context.log('STEP', 'The container is unchanged')
  await startContainer(run, Id)
  run.context.log('STEP', hasRun(found) ? 'The container had ended: it is started again' : 'The container is created')
}

function exportsOf(found: ContainerInspectInfo, { ports }: Config): Exports {
  const published = ports.map(({ container }) => [String(container), hostPortOf(found, container)] as const)
  const [first] = published
  return {
    container: containerName(found.Config.Labels?.[ITEM_LABEL] ?? ''),
    ...(first ? { host: LOOPBACK, port: first[1], ports: Object.fromEntries(published) } : {}),
  }
}

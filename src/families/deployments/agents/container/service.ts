import type { ContainerInspectInfo } from 'dockerode'
import { hasRun } from '../../../../agents/container/engine.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { DeployError } from '../deploy-error.ts'
import {
  CONFIG_LABEL,
  containerName,
  digestOf,
  endpointsOf,
  ITEM_LABEL,
  LOOPBACK,
  serviceContainer,
} from './container-of.ts'
import { hostPortOf, untilHealthy } from './health.ts'
import type { Config } from './read-config.ts'
import { discard, type Run, startContainer } from './run.ts'
import { networksOf } from './shared.ts'

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
  for (let failures = 0; failures <= CREATE_RETRIES; failures += 1) {
    const id = await runOne(run, config)
    if (id !== null) return id
    await pause(retryDelay(failures), run.context.signal)
    run.context.signal.throwIfAborted()
  }
  const name = containerName(run.item.objectId)
  throw new DeployError('CONTAINER_REFUSED', `The engine keeps the name ${name}, or offers only ports that are taken.`)
}

/** Null: its name or its port was taken meanwhile. */
async function runOne(run: Run, config: Config): Promise<string | null> {
  const { engine, images, secrets, shared, item, context } = run
  const found = await engine.inspect(containerName(item.objectId))
  const difference = found && (await differenceOf(run, config, found))
  if (found && difference === null) return (await startAgain(run, config, found)) ? found.Id : null
  context.report({ progress: { step: `Providing the image ${config.image}` } })
  await images.provide(config.image, context.signal)
  if (found) {
    context.log('STEP', `The container is replaced: ${difference}`)
    await discard(run, found)
  }
  // Nothing uses those of earlier jobs any more.
  await secrets.remove(item.objectId)
  const container = serviceContainer({ item, config, mounted: await secrets.write(item, config) })
  context.signal.throwIfAborted()
  const id = await shared.create(item, config, container)
  if (id === null) return null
  if (found) await shared.leaveNetworks(item)
  if (!(await startService(run, config, id))) return null
  context.log('STEP', 'The container is created')
  return id
}

/**
 * Podman chooses a port when it creates a container, and listens at it from the start: another program may have it by then.
 * @returns false if so; the container is removed
 */
async function startService(run: Run, { ports }: Config, id: string): Promise<boolean> {
  try {
    await startContainer(run, id)
    return true
  } catch (error) {
    const [, port] = /:(\d+)\b.*address already in use/.exec(error instanceof DeployError ? error.message : '') ?? []
    if (port === undefined || ports.some(({ host }) => host === Number(port))) throw error
    return false
  }
}

/** Why a container has to be replaced; null: it is what the config says, but may not run. */
async function differenceOf(run: Run, config: Config, found: ContainerInspectInfo): Promise<string | null> {
  const { Config: made, Mounts, State } = found
  if (made.Labels?.[ITEM_LABEL] !== run.item.objectId) return 'it is not this item’s'
  if (made.Labels[CONFIG_LABEL] !== digestOf(config)) return 'its config has changed'
  const binds = Mounts.filter(({ Type }) => Type === 'bind').map(
    ({ Destination, Source }) => [Destination, Source] as const,
  )
  const changed = await run.secrets.differenceOf(new Map(binds), config)
  if (changed !== null) return `its ${changed} have changed`
  if (State.Paused) return 'it was paused from outside'
  return isAsMade(run, config, found) ? null : 'it was changed from outside'
}

/**
 * Compares the settings that others can change of a running container. An engine that cannot limit something reports no
 * limit.
 */
function isAsMade({ item }: Run, config: Config, found: ContainerInspectInfo): boolean {
  const { Memory, PidsLimit, RestartPolicy } = found.HostConfig
  const { memory, pids, restart } = config
  const networks = new Set(networksOf(found))
  return (
    (Memory || memory) === memory &&
    (PidsLimit || pids) === pids &&
    RestartPolicy?.Name === restart &&
    endpointsOf(item, config).every(({ network }) => networks.has(network))
  )
}

async function startAgain(run: Run, config: Config, found: ContainerInspectInfo): Promise<boolean> {
  const { State, Id } = found
  const isUp = State.Running || State.Restarting
  if (!isUp && !(await startService(run, config, Id))) return false
  const ended = hasRun(found) ? 'The container had ended: it is started again' : 'The container is created'
  run.context.log('STEP', isUp ? 'The container is unchanged' : ended)
  return true
}

function exportsOf(found: ContainerInspectInfo, { ports }: Config): Exports {
  const published = ports.map(({ container }) => [String(container), hostPortOf(found, container)] as const)
  const [first] = published
  return {
    container: containerName(found.Config.Labels?.[ITEM_LABEL] ?? ''),
    ...(first ? { host: LOOPBACK, port: first[1], ports: Object.fromEntries(published) } : {}),
  }
}

import { hasRun } from '../../../../agents/container/engine.ts'
import { followContainer } from '../../../../agents/container/follow-container.ts'
import { exitOf } from '../../../../agents/exit-of.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { failureOf } from '../../../../core/gadget/failure-of.ts'
import { DeployError } from '../deploy-error.ts'
import { isOfJob, type NamedContainer } from './container-of.ts'
import { JobOutput } from './job-output.ts'
import type { Config } from './read-config.ts'
import { discard, type Run, startContainer } from './run.ts'

type Exports = Readonly<Record<string, unknown>>

interface ToRun {
  readonly mode: 'run' | 'undo'
  readonly config: Config
  /** Its name, and how it is made. */
  readonly name: string
  create(mounted: ReadonlyMap<string, string>): NamedContainer
}

const CREATE_RETRIES = 8

/**
 * Runs a container to its end, once in this job of the item, however many deployers try: its container stays until the next job
 * or the item's deletion, so that a deployer that takes over finds the outcome. @throws DeployError
 */
export async function runToEnd(run: Run, toRun: ToRun): Promise<Exports> {
  const container = await provideOnce(run, toRun)
  run.context.report({ progress: { step: 'Running' } })
  return await follow(run, toRun, container)
}

/** The id of the container of this job: the one that an earlier attempt has started, whether it still runs or not, or a new one. */
async function provideOnce(run: Run, { name, config, create }: ToRun): Promise<string> {
  const { engine, images, secrets, shared, item, context } = run
  for (let failures = 0; failures <= CREATE_RETRIES; failures += 1) {
    const found = await engine.inspect(name)
    const isKnown = found !== null && isOfJob(found.Config.Labels ?? {}, item)
    if (isKnown && hasRun(found)) {
      context.log(
        'SYSTEM',
        'A deployer has started it before: it is not started again, and its output follows from the beginning.',
      )
      return found.Id
    }
    if (found && !isKnown) await discard(run, found)
    // The one that was killed may have started it meanwhile: then the engine refuses, and it is found to run.
    if (isKnown) await engine.remove(found.Id, false).catch(() => {})
    context.report({ progress: { step: `Providing the image ${config.image}` } })
    await images.provide(config.image, context.signal)
    const container = create(await secrets.write(item, config))
    context.signal.throwIfAborted()
    const id = await shared.create(item, config, container)
    if (id !== null) {
      await startContainer(run, id)
      return id
    }
    await pause(retryDelay(failures), context.signal)
    context.signal.throwIfAborted()
  }
  throw new DeployError('CONTAINER_REFUSED', `The engine keeps the name ${name}, and has no such container.`)
}

async function follow(run: Run, { mode, config }: ToRun, container: string): Promise<Exports> {
  const { engine, endings, secrets, item, context } = run
  const onBroken = (): void => void engine.stop(container, config.graceMs).catch(() => {})
  const output = new JobOutput({ mode, config, context, onBroken })
  const end = await followContainer({
    ...{ engine, endings, container, id: item.objectId, signal: context.signal },
    read: () => ({ STDOUT: 0, STDERR: 0 }),
    onOutput: (stream, chunk) => output.write(stream, chunk),
  })
  context.signal.throwIfAborted()
  output.end()
  await secrets.remove(item.objectId)
  if (end === null || end === 'GONE')
    throw new DeployError('CONTAINER_REMOVED', 'Its container was removed from outside while it ran.')
  const { ExitCode, OOMKilled } = end.State
  const failure = failureOf(exitOf(ExitCode), output.gadget)
  if (!failure) return { ...output.gadget.exports }
  const { cause, message } = failure
  if (cause === 'protocol')
    throw new DeployError(
      'CONTAINER_PROTOCOL',
      `${message} Standard output is read as this protocol, unless the config says \`output: text\`.`,
    )
  if (cause === 'error') throw new DeployError('CONTAINER_FAILED', message)
  if (OOMKilled)
    throw new DeployError('CONTAINER_OUT_OF_MEMORY', `It needed more memory than it may.${output.lastLines}`)
  throw new DeployError('CONTAINER_FAILED', `${message}${output.lastLines}`)
}

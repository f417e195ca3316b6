import { reasonOf, statusOf } from '../../../../agents/container/engine.ts'
import { ImageProblem } from '../../../../agents/container/images.ts'
import type { Work, WorkOutcome } from '../../../../client/index.ts'
import { codeOf } from '../../../../process/error-code.ts'
import { DeployError } from '../deploy-error.ts'
import { containerName, deleterContainer, deleterName, jobContainer } from './container-of.ts'
import { type Config, readConfig } from './read-config.ts'
import { type Deployer, discard, discardAll, type Run } from './run.ts'
import { runToEnd } from './run-to-end.ts'
import { deployService } from './service.ts'

/** The `container` deployer: runs images to their end, or as services. */
export const containerWork =
  (deployer: Deployer): Work =>
  async (item, context) => {
    let run: Run = { ...deployer, item, context, config: null }
    try {
      if (item.action === 'DELETE') {
        run = { ...run, config: configOrNull(item.config) }
        return await remove(run)
      }
      const config = readConfig(item.config)
      run = { ...run, config }
      return { phase: 'SUCCEEDED', exports: await deploy(run, config) }
    } catch (error) {
      return context.signal.aborted ? await abort(run) : outcomeOf(error)
    }
  }

async function deploy(run: Run, config: Config): Promise<Readonly<Record<string, unknown>>> {
  if (config.mode === 'service') return await deployService(run, config)
  return await runToEnd(run, {
    ...{ mode: 'run', config, name: containerName(run.item.objectId) },
    create: (mounted) => jobContainer({ item: run.item, config, mounted }),
  })
}

async function remove(run: Run): Promise<WorkOutcome> {
  const { engine, item, config } = run
  const command = config?.delete
  if (config && command) {
    // A deleted item must not run any more.
    const found = await engine.inspect(containerName(item.objectId))
    if (found) await discard(run, found)
    await runToEnd(run, {
      ...{ mode: 'undo', config, name: deleterName(item.objectId) },
      create: (mounted) => deleterContainer({ item, config, mounted }, command),
    })
  }
  await discardAll(run)
  await removeVolumes(run)
  return { phase: 'GONE' }
}

async function removeVolumes({ shared, item, config, context }: Run): Promise<void> {
  for (const { name, onDelete } of config?.volumes ?? []) {
    const stays =
      onDelete === 'keep' ? 'the config keeps it' : (await shared.removeVolume(item, name)) ? null : 'another has it'
    context.log('STEP', stays === null ? `The volume ${name} is removed` : `The volume ${name} stays: ${stays}`)
  }
}

/** A config that cannot be read was never deployed. */
function configOrNull(config: unknown): Config | null {
  try {
    return readConfig(config)
  } catch (error) {
    if (error instanceof DeployError) return null
    throw error
  }
}

/** A user's request ends a job, and leaves a service as it is. The shutdown of the deployer leaves both to the next one. */
async function abort(run: Run): Promise<WorkOutcome> {
  if (run.context.signal.reason !== 'ABORT_REQUESTED' || run.config?.mode === 'service') return { phase: 'ABORTED' }
  try {
    await discardAll(run)
    return { phase: 'ABORTED' }
  } catch (error) {
    return outcomeOf(error)
  }
}

/** A bug is thrown on. */
function outcomeOf(error: unknown): WorkOutcome {
  if (error instanceof DeployError) return failed(error.code, error.message)
  if (error instanceof ImageProblem) return failed('CONTAINER_IMAGE', error.message)
  if (statusOf(error) > 0) return failed('CONTAINER_REFUSED', `The engine refuses: ${reasonOf(error)}`)
  if (!NO_ANSWER.has(codeOf(error))) throw error
  const message = `The engine does not answer: ${codeOf(error)}.`
  return { phase: 'PROGRESSING', error: { code: 'CONTAINER_ENGINE', message, retryable: true } }
}
const NO_ANSWER = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'EACCES', 'ETIMEDOUT'])

const failed = (code: string, message: string): WorkOutcome => ({ phase: 'FAILED', error: { code, message } })

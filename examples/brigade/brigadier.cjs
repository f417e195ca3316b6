const { readdir, readFile } = require('node:fs/promises')
const { join } = require('node:path')

/**
 * Runs scripts of Brigade 2 as workers of Phaseline: what they import from `@brigadecore/brigadier`. `phaseline import brigade`
 * writes it into the project, with `phaseline.mjs` of examples/ci beside it.
 */

const phaseline = import('./phaseline.mjs')
/** The runtime of processes has none, and gives the token as a variable. */
const HAS_IMAGES = process.env.PHASELINE_TOKEN === undefined

class Container {
  constructor(image) {
    Object.assign(this, { image, command: [], arguments: [], environment: {} })
    Object.assign(this, { workingDirectory: '', workspaceMountPath: '', sourceMountPath: '', privileged: false })
  }
}

class Job {
  static container = (name, image, event) => new Job(name, image, event)
  static sequence = (...runnables) => new SerialGroup(...runnables)
  static concurrent = (...runnables) => new ConcurrentGroup(...runnables)

  constructor(name, image, event) {
    Object.assign(this, { name, event, primaryContainer: new Container(image), sidecarContainers: {} })
    Object.assign(this, { timeoutSeconds: 900, host: {}, fallible: false })
  }

  /** Until it has ended. Throws if it has not succeeded, unless it may fail. */
  async run() {
    const { createJob, waitFor } = await phaseline
    this.created = await createJob(this.name, this.#spec())
    const { phase, error } = await waitFor(this.created)
    console.log(`The job ${this.name} is ${phase}.`)
    if (phase !== 'SUCCEEDED' && !this.fallible)
      throw new Error(`The job ${this.name} is ${phase}${error ? `: ${error.message}` : ''}`)
  }

  async logs() {
    const { readLogs } = await phaseline
    return this.created ? (await readLogs(this.created)).join('\n') : ''
  }

  #spec() {
    const { workspaceMountPath, sourceMountPath } = this.primaryContainer
    const { image, command, args, env } = this.#program(this.primaryContainer)
    const workspace = workspaceMountPath !== '' || sourceMountPath !== ''
    const services = Object.entries(this.sidecarContainers).map(([name, container]) => this.#service(name, container))
    const timeoutMs = this.timeoutSeconds * 1_000
    return { ...(HAS_IMAGES ? { image } : {}), command, args, env, workspace, timeoutMs, services }
  }

  /** A sidecar is found by its name as a host; those of Brigade share the address of their job. */
  #service(sidecar, container) {
    const { image, command, args, env } = this.#program(container)
    const name = sidecar.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    console.log(`The job ${this.name} finds its sidecar ${sidecar} at the host ${name}.`)
    return { name, ...(HAS_IMAGES ? { image } : {}), command, args, env }
  }

  #program({ image, command, arguments: args, environment, privileged, useHostDockerSocket }) {
    if (privileged || useHostDockerSocket) throw new Error(`The job ${this.name} must not be privileged.`)
    return {
      image,
      command,
      args,
      env: Object.entries(environment).map(([name, value]) => ({ name, value: String(value) })),
    }
  }
}

class Group {
  constructor(...runnables) {
    this.runnables = runnables
  }
  add(...runnables) {
    this.runnables.push(...runnables)
  }
  length() {
    return this.runnables.length
  }
}
class SerialGroup extends Group {
  async run() {
    for (const runnable of this.runnables) await runnable.run()
  }
}
/** All of them run to their end; then the first failure counts. */
class ConcurrentGroup extends Group {
  async run() {
    const ends = await Promise.allSettled(this.runnables.map((runnable) => runnable.run()))
    const failure = ends.find(({ status }) => status === 'rejected')
    if (failure) throw failure.reason
  }
}

const handlers = new Map()
const events = {
  on(source, type, handler) {
    handlers.set(`${source}:${type}`, handler)
    return events
  },
  /** Calls the handler of the event that this worker runs for. */
  async process() {
    try {
      const event = await readEvent()
      const handler = handlers.get(`${event.source}:${event.type}`) ?? handlers.get(`${event.source}:*`)
      if (handler) await handler(event)
      else console.log(`The script has no handler for ${event.source}:${event.type}.`)
    } catch (error) {
      console.error(error)
      process.exitCode = 1
    }
  },
}

async function readEvent() {
  const { readEvent } = await phaseline
  const { project, ...event } = await readEvent()
  return { ...event, project: { id: project, secrets: await readSecrets() }, worker: { git: {} } }
}

async function readSecrets() {
  const folder = process.env.PHASELINE_SECRETS
  if (!folder) return {}
  const names = await readdir(folder)
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')])),
  )
}

const ImagePullPolicy = { Always: 'Always', IfNotPresent: 'IfNotPresent', Never: 'Never' }
const logger = console

module.exports = { ConcurrentGroup, Container, events, ImagePullPolicy, Job, logger, SerialGroup }

import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import Docker, { type ContainerInspectInfo } from 'dockerode'
import { Endings } from '../../../../src/agents/container/endings.ts'
import { Engine } from '../../../../src/agents/container/engine.ts'
import { Images } from '../../../../src/agents/container/images.ts'
import type { InterimReport, StopReason, WorkItem, WorkOutcome } from '../../../../src/client/index.ts'
import { containerName, ITEM_LABEL } from '../../../../src/families/deployments/agents/container/container-of.ts'
import { containerWork } from '../../../../src/families/deployments/agents/container/container-work.ts'
import { SecretFolders } from '../../../../src/families/deployments/agents/container/secret-folders.ts'
import { Shared } from '../../../../src/families/deployments/agents/container/shared.ts'
import { IMAGE } from '../../../testkit/container-engine.ts'

/** An item on the engine of the tests, and the deployer's work on it. */
export interface ItemPlace extends AsyncDisposable {
  readonly docker: Docker
  readonly item: string
  readonly name: string
  /** Begins the work on the item, in a job of its own unless it is given. */
  begin(config: object, more?: Partial<WorkItem>): Working
  deploy(config: object, more?: Partial<WorkItem>): Promise<Worked>
  remove(config?: object, more?: Partial<WorkItem>): Promise<Worked>
  /** Null: it has no container. */
  inspect(): Promise<ContainerInspectInfo | null>
  /** Containers and secrets of the item. */
  leftovers(): Promise<readonly string[]>
}
interface Working {
  readonly worked: Promise<Worked>
  readonly steps: readonly string[]
  readonly lines: readonly string[]
  stop(reason: StopReason): void
}
interface Worked {
  readonly outcome: WorkOutcome
  readonly lines: readonly string[]
  readonly error: string
}

/** A config that runs a script of a shell. */
export const script = (text: string, more: object = {}) => ({
  ...{ image: IMAGE, command: ['sh', '-c', text], memory: '64m', pids: 64, graceMs: 1_000 },
  ...more,
})

const secretsOf = (item: string) => join('/dev/shm', `phaseline-${process.getuid?.()}`, 'items', item)

export async function leftoversOf(docker: Docker, item: string): Promise<readonly string[]> {
  const containers = await docker.listContainers({ all: true, filters: { label: [`${ITEM_LABEL}=${item}`] } })
  const secrets = await readdir(secretsOf(item)).catch(() => [])
  return [...containers.flatMap(({ Names }) => Names), ...secrets]
}

export async function itemPlace(socketPath: string): Promise<ItemPlace> {
  const docker = new Docker({ socketPath })
  const item = randomUUID()
  const engine = new Engine(socketPath, ITEM_LABEL)
  const endings = new Endings(engine, ITEM_LABEL, () => {})
  const images = new Images(engine.docker, { pull: 'missing', registries: null })
  const work = containerWork({
    engine,
    endings,
    images,
    secrets: await SecretFolders.open(),
    shared: new Shared(engine),
  })
  const begin: ItemPlace['begin'] = (config, more = {}) => {
    const stop = new AbortController()
    const [steps, lines]: [string[], string[]] = [[], []]
    const context = {
      signal: stop.signal,
      lost: stop.signal,
      report: ({ progress }: InterimReport) =>
        void steps.push(`${progress?.step} ${progress?.value}/${progress?.total}`),
      log: (stream: string, text: string) => void lines.push(`${stream} ${text}`),
    }
    const of = {
      fence: '',
      objectId: item,
      kind: 'DEPLOY_ITEM',
      name: 'it',
      jobId: randomUUID(),
      target: null,
    } as const
    const given = { ...of, action: 'RECONCILE', type: 'container', config, attempt: 1, token: null } as const
    const worked = Promise.resolve(work({ ...given, ...more }, context)).then((outcome) => ({
      ...{ outcome, lines },
      error: outcome && 'phase' in outcome ? `${outcome.error?.code}: ${outcome.error?.message}` : '',
    }))
    return { worked, steps, lines, stop: (reason) => stop.abort(reason) }
  }
  const remove: ItemPlace['remove'] = (config = {}, more = {}) => begin(config, { action: 'DELETE', ...more }).worked
  return {
    ...{ docker, item, name: containerName(item), begin, remove },
    deploy: (config, more) => begin(config, more).worked,
    inspect: () => engine.inspect(containerName(item)),
    leftovers: () => leftoversOf(docker, item),
    async [Symbol.asyncDispose]() {
      await remove()
      await endings[Symbol.asyncDispose]()
    },
  }
}

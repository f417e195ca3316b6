import { type Client, type CrmError, runCrm } from '../../../client/index.ts'
import { pause } from '../../../client/pause.ts'
import { FolderInUse } from '../../../process/folder-lock.ts'
import { badNetwork } from './bad-network.ts'
import type { CrmBehaviour } from './behaviour.ts'
import { Chance } from './chance.ts'
import { CloudletFolder } from './cloudlet-folder.ts'
import { endHolder } from './end-holder.ts'
import { findCloudlet } from './find-cloudlet.ts'
import { folderDriver } from './folder-driver.ts'
import { type Successor, startSuccessor } from './successor.ts'

export interface SimulatedCrmOptions {
  readonly client: Client
  /** The cloudlet's id, or its name. */
  readonly cloudlet: string
  /** The folder of the cloudlet's instances, see CloudletFolder. */
  readonly state: string
  /** Names this process. */
  readonly instance: string
  /** CRM_V2: started by an upgrade, to take over from the process that has locked the state folder. */
  readonly role: 'CRM' | 'CRM_V2'
  /** A version that an upgrade has stored in the state folder overrides it. */
  readonly version: string
  readonly behaviour: CrmBehaviour
  readonly leaseMs?: number | undefined
  /** The command with which an upgrade starts this program as the CRM of another version. */
  readonly successor: Successor
  /** Ends the process. */
  crash(): never
  readonly signal: AbortSignal
  onEvent(event: string, details: Readonly<Record<string, unknown>>): void
  onProblem(problem: CrmError): void
}

const STAND_BY_MS = 200
const VERSION = 'version'
const RUN = 'run'

/**
 * A CRM whose instances are folders. One process locks the state folder: a second one stands by until the first has ended,
 * and one that an upgrade has started ends it.
 * @throws ClientError like runCrm
 */
export async function runSimulatedCrm(options: SimulatedCrmOptions): Promise<void> {
  const { client, state, role, behaviour, signal, onEvent } = options
  await using held = new AsyncDisposableStack()
  const found = await findCloudlet(client, options.cloudlet, signal)
  if (!found) return
  const folder = new CloudletFolder(state, found.name)
  const run = Number(await folder.note(RUN)) + 1
  // Seeded by the run: a crash that recurred at each start would never let any operation succeed.
  const chance = new Chance(`${behaviour.seed} ${run}`)

  async function begin(version: string): Promise<void> {
    const tidied = await folder.tidy()
    await folder.writeNote(RUN, String(run))
    await folder.writeNote(VERSION, version)
    onEvent('crm serves', { cloudlet: found?.name, pid: process.pid, version, tidied })
  }
  let { version } = options
  if (role === 'CRM') {
    const lock = await standBy(folder, options)
    if (!lock) return
    held.use(lock)
    version = (await folder.note(VERSION)) ?? version
    await begin(version)
  }
  const end = await runCrm({
    client: badNetwork(client, behaviour, chance),
    cloudletId: found.id,
    instance: options.instance,
    role,
    version,
    leaseMs: options.leaseMs,
    driver: folderDriver({ folder, behaviour, chance, crash: options.crash }),
    onUpgrade: (request) => startSuccessor(request, options.successor, behaviour),
    async onTakeOver(stopping) {
      if (behaviour.upgrade === 'NOT_BROUGHT_UP') throw new Error('It is not brought up, as configured.')
      held.use(await endHolder(folder, stopping))
      await begin(version)
    },
    signal,
    onProblem: options.onProblem,
  })
  onEvent('crm ended', { cloudlet: found.name, pid: process.pid, end })
}

async function standBy(
  folder: CloudletFolder,
  { signal, onEvent }: SimulatedCrmOptions,
): Promise<AsyncDisposable | null> {
  for (let waits = 0; !signal.aborted; waits += 1) {
    try {
      return await folder.lock()
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error
      if (waits === 0) onEvent('crm stands by', { pid: process.pid, serving: error.holder.pid })
    }
    await pause(STAND_BY_MS, signal)
  }
  return null
}

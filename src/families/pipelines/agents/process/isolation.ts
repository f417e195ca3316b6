import { delimiter, isAbsolute } from 'node:path'
import { UsageError } from '../../../../agents/arguments.ts'
import { type IsolationOptions, NotIsolated, requireBubblewrap } from './bubblewrap.ts'

/** Isolation of workloads by the process runtime, and its settings for an agent process. */

export interface WorkloadSettings {
  readonly level: 'isolated' | 'trusted' | 'off'
  readonly network: 'api' | 'host'
  /** Absolute paths of further folders that isolated workloads may read. */
  readonly folders: readonly string[]
  /** Hosts that repositories are cloned from; absent: any, if workloads have a network. */
  readonly cloneHosts?: readonly string[] | undefined
}

/** The arguments of an agent process. Null: workloads cannot be isolated here, and are not trusted. */
export interface ChosenLevel {
  readonly options: Readonly<Record<string, string>> | null
  /** For the operator: the level, and why. */
  readonly reason: string
  /** The operator should read it. */
  readonly isWarning: boolean
}

const NETWORKS = { api: 'no network but the API', host: 'the network of this machine' } as const

/** @param dataDir must not be seen by isolated workloads */
export async function chooseLevel(
  { level, network, folders, cloneHosts }: WorkloadSettings,
  dataDir: string,
): Promise<ChosenLevel> {
  if (level === 'off') return { options: null, reason: 'off', isWarning: false }
  const clones = cloneHosts === undefined ? {} : { 'clone-hosts': cloneHosts.join(',') }
  if (level === 'trusted') {
    const reason = 'trusted, as configured: workers and jobs can do and read what the user of this server can'
    return { options: { isolation: 'trusted', ...clones }, reason, isWarning: true }
  }
  try {
    await requireBubblewrap({ network, folders }, dataDir)
    const options = {
      isolation: 'isolated',
      network,
      ...(folders.length > 0 ? { folders: folders.join(delimiter) } : {}),
      ...clones,
    }
    const reason = `isolated by bubblewrap, with ${NETWORKS[network]}`
    return isRoot()
      ? { options, reason: `${reason}; ${AS_ROOT}`, isWarning: true }
      : { options, reason, isWarning: false }
  } catch (error) {
    if (!(error instanceof NotIsolated)) throw error
    const advice =
      'To isolate them, install bubblewrap 0.8 or newer, and keep the data folder out of /usr and of PHASELINE_WORKLOAD_FOLDERS; or set PHASELINE_PROCESS_RUNTIME=trusted if all who may write workers and jobs may do what the user of this server may'
    return { options: null, reason: `off, since ${error.message}. ${advice}.`, isWarning: true }
  }
}

const isRoot = (): boolean => process.getuid?.() === 0
const AS_ROOT =
  'but this is root, who owns the devices of this machine, so that workloads can change their modes: run it as a user of its own'

/** Null: workloads are trusted. @throws UsageError */
export function readIsolation(options: Readonly<Record<string, string | undefined>>): IsolationOptions | null {
  const { isolation = 'isolated', network = 'api', folders = '' } = options
  if (isolation === 'trusted') return null
  if (isolation !== 'isolated') throw new UsageError('--isolation must be isolated or trusted.')
  if (network !== 'api' && network !== 'host') throw new UsageError('--network must be api or host.')
  const paths = folders.split(delimiter).filter((path) => path !== '')
  if (!paths.every((path) => isAbsolute(path))) throw new UsageError('--folders must be absolute paths.')
  return { network, folders: paths }
}

import type { ContainerCreateOptions } from 'dockerode'
import { commandOf, hardenedHost } from '../../../../agents/container/hardened-host.ts'
import { StartProblem, type Workload } from '../runtime/runtime.ts'
import { GIT_IN_CONTAINER, requireName, workloadEnv } from '../runtime/workload-env.ts'
import type { ContainerOptions } from './options.ts'

/** A workload as a container of the engine's API. Nothing in it is secret: whoever may ask the engine can read all of it. */

export const PLACE_LABEL = 'io.phaseline.place'
export const OBJECT_LABEL = 'io.phaseline.object'
export const WORKER_LABEL = 'io.phaseline.worker'
export const RECEIPT_LABEL = 'io.phaseline.receipt'

/** One name for one object: to create its container twice is a conflict. */
export const containerName = (id: string): string => `phaseline-${id}`
export const volumeName = (workerId: string): string => `phaseline-workspace-${workerId}`

/** The folder of a container's event, secrets and token. */
const INPUT = '/run/phaseline'
export const SECRETS = `${INPUT}/secrets`
export const WORKSPACE = '/workspace'
/** A volume belongs to root. Any other user gets a folder in it, which is unpacked with its files. */
export const OWN_FOLDER = 'own'
export const workingFolderOf = (user: string | null): string =>
  user === null ? WORKSPACE : `${WORKSPACE}/${OWN_FOLDER}`

/** More than the runtime passes on of one workload, so that the engine never drops what is still to be read. */
const LOG_SIZE = '128m'

export interface ContainerPlan {
  readonly workload: Workload
  readonly place: string
  readonly receipt: string
  /** The folder of this machine that becomes `/run/phaseline`. */
  readonly inputFolder: string
  readonly options: ContainerOptions
}

/** @throws StartProblem */
export function containerOf({ workload, place, receipt, inputFolder, options }: ContainerPlan): ContainerCreateOptions {
  const { id, image, workspace, workerId } = workload
  if (image === null) throw new StartProblem('It has no image: the container runtime runs commands in images.')
  for (const name of Object.keys(workload.secrets)) requireName(name)
  return {
    name: containerName(id),
    Image: image,
    ...commandOf(workload),
    Env: envOf(workload, options),
    WorkingDir: workingFolderOf(options.user),
    Labels: { [PLACE_LABEL]: place, [OBJECT_LABEL]: id, [WORKER_LABEL]: workerId, [RECEIPT_LABEL]: receipt },
    ...(options.user === null ? {} : { User: options.user }),
    HostConfig: {
      ...hardenedHost(options, LOG_SIZE),
      RestartPolicy: { Name: 'no' },
      Mounts: [
        {
          Type: 'volume',
          Target: WORKSPACE,
          Source: workspace === null ? '' : volumeName(workspace),
        },
        { Type: 'bind', Source: inputFolder, Target: INPUT, ReadOnly: true },
      ],
    },
  }
}

/** Secrets and the token are files only: the engine shows a container's environment to all who may ask it. */
function envOf(workload: Workload, { url, user }: ContainerOptions): string[] {
  const given = workload.clone || workload.workspace !== null ? { ...GIT_IN_CONTAINER, ...workload.env } : workload.env
  const env = workloadEnv(
    {},
    { ...workload, env: given, secrets: {}, token: null },
    { url, workingFolder: workingFolderOf(user), eventFile: `${INPUT}/event.json`, secretsFolder: SECRETS },
  )
  const token = workload.token === null ? {} : { PHASELINE_TOKEN_FILE: `${INPUT}/token` }
  return Object.entries({ HOME: '/tmp', ...env, ...token }).map(([name, value]) => `${name}=${value}`)
}

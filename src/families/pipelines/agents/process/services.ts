import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { exitOf } from '../../../../agents/exit-of.ts'
import type { Mask } from '../../../../agents/mask.ts'
import { pause } from '../../../../client/pause.ts'
import { whyNotStarted } from '../../../../core/why-not-started.ts'
import { parseJson } from '../runtime/parse-json.ts'
import { StartProblem, type Watcher, type Workload } from '../runtime/runtime.ts'
import { cannotStart, howItEnded, notReady, serviceEnv, serviceProblem, tellEnded } from '../runtime/services.ts'
import { findCommand, type Searched } from './find-command.ts'
import type { LaunchedService, LaunchNote, LaunchPlan } from './launch-plan.ts'
import type { WorkloadFolder } from './workload-folder.ts'

/** Services beside processes, which their launcher starts. */

/** Workloads find their services there: they share a network. */
export const hostOfService = (): string => '127.0.0.1'

export interface ServiceFolders {
  readonly ownEnv: Readonly<Record<string, string | undefined>>
  readonly workingFolder: string
  readonly secretsFolder: string
  readonly isExecutable: Searched['isExecutable']
}

/** @throws StartProblem */
export async function launchedServices(
  workload: Workload,
  { ownEnv: own, workingFolder, secretsFolder, isExecutable }: ServiceFolders,
): Promise<readonly LaunchedService[]> {
  const launched = (workload.services ?? []).map(async (service): Promise<LaunchedService> => {
    const { name, image, ports, readiness } = service
    const argv = [...service.command, ...service.args]
    if (image !== null) throw serviceProblem(name, 'has an image: the process runtime runs commands of this machine')
    const env = serviceEnv(workload, service, { own, secretsFolder, hostOf: hostOfService })
    const found = async (command: readonly string[]): Promise<readonly string[]> => {
      if (command.length === 0) return []
      return [findCommand(command[0] ?? '', { path: env.PATH ?? '', workingFolder, isExecutable }), ...command.slice(1)]
    }
    try {
      return {
        name,
        ports,
        command: await found(argv),
        env,
        readiness: { ...readiness, command: await found(readiness.command) },
      }
    } catch (error) {
      if (error instanceof StartProblem) throw cannotStart(name, error.message)
      throw error
    }
  })
  return await Promise.all(launched)
}

export const writePlan = (folder: WorkloadFolder, plan: LaunchPlan): void =>
  writeFileSync(folder.planFile, JSON.stringify(plan), { mode: 0o600 })

const output = z.array(z.string())
const service = z.string()
const note = z.discriminatedUnion('is', [
  z.object({ is: z.literal('ready') }),
  z.object({ is: z.literal('refused'), service: service.nullable(), code: z.string() }),
  z.object({ is: z.literal('taken'), service, port: z.number() }),
  z.object({
    is: z.literal('late'),
    readiness: z.object({ port: z.number().nullable(), command: output, timeoutMs: z.number() }),
    ...{ service, output },
  }),
  z.object({ is: z.literal('ended'), service, exitCode: z.number(), output }),
])

/** Null: the workload has no services. */
function readNotes(folder: WorkloadFolder): readonly LaunchNote[] | null {
  const lines = folder.readNotes()?.split('\n')
  // A line without an end is still being written.
  return lines?.slice(0, -1).flatMap((line) => parseJson(note, line) ?? []) ?? null
}

/** Why a workload never ran, because of a service or since its launcher could not run it; null: nothing is known. */
export function launchProblem(folder: WorkloadFolder, mask: Mask): StartProblem | null {
  const notes = readNotes(folder) ?? []
  const own = notes.find((one) => one.is === 'refused' && one.service === null)
  if (own?.is === 'refused') return new StartProblem(`It could not be started: ${whyNotStarted(own.code)}.`)
  const [problem] = notes
  if (!problem || problem.is === 'ready') return null
  return serviceProblem(problem.service ?? '', whyNot(problem), 'output' in problem ? masked(problem.output, mask) : [])
}

function whyNot(problem: Exclude<LaunchNote, { is: 'ready' }>): string {
  switch (problem.is) {
    case 'refused':
      return `cannot start: ${whyNotStarted(problem.code)}`
    case 'taken':
      return `cannot start: its port ${problem.port} is in use on this machine`
    case 'late':
      return notReady(problem)
    case 'ended':
      return howItEnded(exitOf(problem.exitCode))
    default:
      return problem satisfies never
  }
}

const masked = (lines: readonly string[], mask: Mask): readonly string[] => lines.map((line) => mask.apply(line, true))

export interface FollowedServices {
  readonly folder: WorkloadFolder
  readonly mask: Mask
  /** Called when the workload is about to start: at once if it has no services. */
  onReady(): void
  /** The runtime is stopping the workload, and its services with it. */
  isStopping(): boolean
  readonly onLine: Watcher['onLine']
  /** Aborts when the workload has ended, or nobody follows it any more. */
  readonly ended: AbortSignal
}
const READY_POLL_MS = 50
const POLL_MS = 1_000

/** Tells when the services of a workload are ready, and of those that end before it does. */
export async function followServices(followed: FollowedServices): Promise<void> {
  const { folder, mask, onReady, isStopping, onLine, ended } = followed
  if (readNotes(folder) === null) return onReady()
  let isReady = false
  for (let told = 0, isLast = false; !isLast; await pause(isReady ? POLL_MS : READY_POLL_MS, ended)) {
    isLast = ended.aborted
    const notes = readNotes(folder) ?? []
    for (const one of notes.slice(told)) {
      if (one.is === 'ready') {
        isReady = true
        onReady()
      } else if (one.is === 'ended' && isReady && !isStopping())
        tellEnded({ onLine }, one.service, howItEnded(exitOf(one.exitCode)), masked(one.output, mask))
    }
    told = notes.length
  }
}

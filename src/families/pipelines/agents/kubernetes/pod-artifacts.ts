import type { KubeConfig, V1Pod } from '@kubernetes/client-node'
import { isStatus, unless } from '../../../../agents/kubernetes/api.ts'
import { type ExecCommand, ExecError, execute, run } from '../../../../agents/kubernetes/exec.ts'
import { type PendingProblem, ProblemTimeout } from '../../../../agents/kubernetes/pending-problem.ts'
import { pause, retryDelay } from '../../../../client/pause.ts'
import { ArtifactProblem } from '../artifacts/artifact-problem.ts'
import { archiveOfTaken, leftIn } from '../artifacts/folder-archive.ts'
import { type Left, StartProblem, type Taken } from '../runtime/runtime.ts'
import { partsOf, quoted } from '../runtime/workload-files.ts'
import { ALL_GIVEN, ALL_READ, framed, lookAt, pack, unpack } from './artifact-containers.ts'
import { LEAVES_CONTAINER, TAKES_CONTAINER } from './names.ts'
import { startedAs } from './pod-of.ts'
import { reachOf, stateOf, waitsForTakes } from './pod-state.ts'
import type { PodSettings } from './settings.ts'
import { type PodAddress, PodChanges, problemLimits } from './watch-pod.ts'

/** A command that does little. */
const COMMAND_MS = 30_000
/** How long the container with what a workload has left may need to begin, if its image is there: it does so beside the workload. */
const REACH_MS = 120_000

export interface PodArtifactsParts {
  readonly config: KubeConfig
  readonly settings: PodSettings
  readonly closing: AbortSignal
}

/**
 * Hands over what workloads take and leave, to and from containers of their pods: an archive travels as the input or the output of `tar`. The
 * image there may be anybody's, so its archives are judged like any other.
 */
export class PodArtifacts {
  readonly #parts: PodArtifactsParts
  constructor(parts: PodArtifactsParts) {
    this.#parts = parts
  }

  /**
   * Waits until a pod can take artifacts, and gives it those of its workload. The receipt comes last: a pod without it is started by nobody else.
   * @throws StartProblem, ArtifactProblem, or the error of a body
   */
  async give(pod: PodAddress & { readonly uid: string }, { takes, receipt, signal }: Giving): Promise<void> {
    const { config } = this.#parts
    await this.#untilWaiting(pod, signal)
    for (const take of takes) {
      const command = unpack(partsOf(take.path).join('/'), take.isFolder)
      const input = framed(archiveOfTaken(take))
      try {
        await run(config, pod.path, { container: TAKES_CONTAINER, command, input }, signal)
      } catch (error) {
        if (!(error instanceof ExecError) || error.exitCode === null) throw error
        throw new StartProblem(
          `The artifact ${take.artifact} could not be put at ${quoted(take.path)}: ${error.message}.`,
        )
      }
    }
    const metadata = { uid: pod.uid, ...startedAs(receipt) }
    const isOurs = await unless([404, 409, 422], pod.api.patch(pod.path, { metadata }))
    if (!isOurs) throw new StartProblem(GONE)
  }

  async #untilWaiting(pod: PodAddress & { readonly uid: string }, signal: AbortSignal): Promise<void> {
    using changes = new PodChanges(pod)
    const timeout = new ProblemTimeout<PendingProblem['kind']>(problemLimits(this.#parts.settings))
    for (;;) {
      const next = await changes.next(timeout.remainingMs, signal)
      signal.throwIfAborted()
      if (next === undefined) continue
      // An event of an earlier pod of this name may come late.
      const found = next?.metadata?.uid === pod.uid ? next : await pod.api.find<V1Pod>(pod.path)
      if (found?.metadata?.uid !== pod.uid) throw new StartProblem(GONE)
      if (waitsForTakes(found)) return
      const state = stateOf(found)
      if (state.is === 'OVER')
        throw state.end.how === 'NOT_STARTED'
          ? new StartProblem(state.end.message, state.end.code)
          : new StartProblem(GONE)
      const problem = timeout.expired(state.is === 'PENDING' ? state.problem : null)
      if (problem) throw new StartProblem(problem.message)
    }
  }

  /** To be called with each state of a pod that is started: it lets the workload start once that has all it takes. */
  releasing(path: string, signal: AbortSignal): (pod: V1Pod) => void {
    const released = new AbortController()
    let isReleasing = false
    return (pod) => {
      if (waitsForTakes(pod) === isReleasing) return
      if (isReleasing) return released.abort()
      isReleasing = true
      void this.#release(path, AbortSignal.any([signal, released.signal]))
    }
  }

  async #release(path: string, signal: AbortSignal): Promise<void> {
    const command = { container: TAKES_CONTAINER, command: ALL_GIVEN }
    for (let failures = 0; !signal.aborted && !(await this.#ask(path, command, signal)); failures += 1)
      await pause(retryDelay(failures), signal)
  }

  /** @throws ArtifactProblem, also while its body is read */
  async read(address: PodAddress, path: string, wanted?: AbortSignal): Promise<Left | null> {
    const { config, closing } = this.#parts
    const ended = wanted ? AbortSignal.any([closing, wanted]) : closing
    const at = partsOf(path).join('/')
    await this.#untilReached(address, ended)
    const look = { container: LEAVES_CONTAINER, command: lookAt(at) }
    const signal = AbortSignal.any([ended, AbortSignal.timeout(COMMAND_MS)])
    const what = await wordOf(unreadable(path, execute(config, address.path, look, signal)))
    if (what === 'nothing') return null
    const isFolder = what === 'folder'
    if (!isFolder && what !== 'file')
      throw new ArtifactProblem('ARTIFACT_UNSAFE', `${quoted(path)} is no file and no folder.`)
    return { isFolder, body: this.#packed(address, { path, isFolder, signal: ended }) }
  }

  // It begins once somebody reads it: an upload may fail before that.
  async *#packed({ path: pod }: PodAddress, { path, isFolder, signal }: Packing): AsyncGenerator<Uint8Array> {
    const command = { container: LEAVES_CONTAINER, command: pack(partsOf(path).join('/')) }
    const left = await leftIn(unreadable(path, execute(this.#parts.config, pod, command, signal)), path)
    if (left.isFolder !== isFolder)
      throw new ArtifactProblem('ARTIFACT_UNSAFE', `${quoted(path)} has changed while it was read.`)
    yield* left.body
  }

  /** @throws ArtifactProblem when it cannot be read any more */
  async #untilReached(address: PodAddress, ended: AbortSignal): Promise<void> {
    using changes = new PodChanges(address)
    const reachMs = Math.max(REACH_MS, this.#parts.settings.imagePullSeconds * 1_000)
    const late = AbortSignal.any([ended, AbortSignal.timeout(reachMs)])
    for (;;) {
      const next = await changes.next(Number.POSITIVE_INFINITY, late)
      ended.throwIfAborted()
      const pod = next && reachOf(next) !== 'NEVER' ? next : await address.api.find<V1Pod>(address.path)
      const reach = pod ? reachOf(pod) : 'NEVER'
      if (reach === 'NOW') return
      if (reach === 'NEVER' || late.aborted)
        throw new ArtifactProblem('ARTIFACT_UNREADABLE', `its working folder is out of reach: ${whyNot(pod)}.`)
    }
  }

  /** Ends the container that keeps what a workload has left within reach; the removal of its pod does so at the latest. */
  async close(pod: string): Promise<void> {
    await this.#ask(pod, { container: LEAVES_CONTAINER, command: ALL_READ }, this.#parts.closing)
  }

  /** False: it has failed, perhaps because its container has ended. */
  #ask(pod: string, command: ExecCommand, signal: AbortSignal): Promise<boolean> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(COMMAND_MS)])
    return run(this.#parts.config, pod, command, bounded).then(
      () => true,
      () => false,
    )
  }
}

interface Packing {
  readonly path: string
  readonly isFolder: boolean
  readonly signal: AbortSignal
}
interface Giving {
  readonly takes: readonly Taken[]
  readonly receipt: string
  readonly signal: AbortSignal
}

const GONE = 'Its pod was deleted from outside before it had all that it takes.'

function whyNot(pod: V1Pod | null): string {
  const state = pod?.status?.containerStatuses?.find(({ name }) => name === LEAVES_CONTAINER)?.state
  const { reason, message } = { ...state?.waiting, ...state?.terminated }
  return (message ?? reason ?? 'its pod is gone, or ends').replace(/\.$/, '').slice(0, 1_000)
}

/** Longer than each word that an honest image prints. */
const MAX_WORD = 16
async function wordOf(output: AsyncIterable<Uint8Array>): Promise<string> {
  let word = ''
  for await (const chunk of output) {
    word += Buffer.from(chunk.subarray(0, MAX_WORD))
    if (word.length >= MAX_WORD) break
  }
  return word.trim()
}

/** The error of the program that packs, for the author of the spec. */
async function* unreadable(path: string, packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* packed
  } catch (error) {
    // One that has not begun says nothing about what it was to read.
    if (error instanceof ExecError && error.exitCode !== null)
      throw new ArtifactProblem('ARTIFACT_UNREADABLE', `${quoted(path)} cannot be read: ${error.message}.`)
    if (isStatus(error, 403)) throw new ArtifactProblem('ARTIFACT_REFUSED', error instanceof Error ? error.message : '')
    throw error
  }
}

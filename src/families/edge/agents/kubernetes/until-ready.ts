import { fieldsOf, type KubernetesObject, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { Patience } from '../../../../agents/kubernetes/patience.ts'
import { type PendingProblem, pendingProblem } from '../../../../agents/kubernetes/pending-problem.ts'
import { conditionOf, numberOf, type ObjectStatus } from '../../../../agents/kubernetes/status.ts'
import { statusOf } from '../../../../agents/kubernetes/status-of.ts'
import { podProblem } from '../../../../agents/kubernetes/status-rules.ts'
import { type CrmContext, CrmProblem } from '../../../../client/index.ts'
import { pause } from '../../../../client/pause.ts'
import { DEADLINE_SECONDS } from '../../protocol/kubernetes-specs.ts'
import { LIMITS } from './names.ts'
import { newPodsOf } from './new-pods-of.ts'
import { refTo } from './plan.ts'
import { codeOfRefusal } from './problems.ts'
import type { Target } from './target.ts'

const FIRST_MS = 250
const LAST_MS = 2_000
const IMAGE_MS = 60_000
const QUOTA_MS = 15_000
const CLUSTER_MS = 60_000
/** The deployment's controller gets this long to report the delay itself. */
const LATE_MS = 5_000

interface Problem {
  readonly kind: 'FINAL' | 'IMAGE' | 'LASTING' | 'REFUSED'
  readonly code: string
  readonly message: string
}
interface Look {
  readonly status: ObjectStatus
  readonly problem: Problem | null
}

/** Waits until the instance is ready. @throws CrmProblem when it cannot become so, or takes too long */
export async function untilReady(target: Target, context: Pick<CrmContext, 'signal' | 'progress'>): Promise<void> {
  const { signal, progress } = context
  const { look, deadlineMs } = await judgeOf(target)
  const patience = new Patience<Problem['kind']>({
    FINAL: 0,
    IMAGE: Math.min(IMAGE_MS, deadlineMs),
    LASTING: deadlineMs,
    REFUSED: Math.min(QUOTA_MS, deadlineMs),
  })
  const title = titleOf(target.anchor)
  let last = { message: '', at: performance.now() }
  for (let delay = FIRST_MS; ; delay = Math.min(LAST_MS, delay * 1.5)) {
    const { status, problem } = await look()
    if (status.is === 'CURRENT') return
    const step = `${title}: ${status.message}${problem ? `; ${problem.message}` : ''}`
    const lasting = patience.judge(problem)
    if (lasting) throw new CrmProblem(`${title}: ${lasting.message}`, lasting.code)
    if (status.message !== last.message) last = { message: status.message, at: performance.now() }
    const isLate = performance.now() - last.at > deadlineMs + LATE_MS
    if (status.is === 'FAILED' || isLate) throw new CrmProblem(step, problem?.code ?? 'NOT_READY')
    progress(step)
    await pause(Math.min(delay, patience.remainingMs + 1), signal)
    signal.throwIfAborted()
  }
}

interface Judge {
  readonly deadlineMs: number
  look(): Promise<Look>
}

async function judgeOf(target: Target): Promise<Judge> {
  if (target.kind === 'CLUSTER_INST') return { deadlineMs: CLUSTER_MS, look: () => lookAtCluster(target) }
  const { spec } = await read(target)
  const { progressDeadlineSeconds = DEADLINE_SECONDS } = spec ?? {}
  return { deadlineMs: Number(progressDeadlineSeconds) * 1_000, look: () => lookAtApp(target) }
}

async function read({ api, anchor }: Target): Promise<KubernetesObject> {
  const object = await api.find<KubernetesObject>(anchor.path)
  if (object && object.metadata.deletionTimestamp === undefined) return object
  throw new CrmProblem(`${titleOf(anchor)} was deleted while it was waited for.`, 'NOT_READY')
}

/** Pods are refused until their service account is there, and not counted before the quota is. */
async function lookAtCluster(target: Target): Promise<Look> {
  const { api, namespace } = target
  const { status } = await read(target)
  const inProgress = (message: string): Look => ({ status: { is: 'IN_PROGRESS', message }, problem: null })
  if (status?.phase !== 'Active') return inProgress(`it is ${String(status?.phase ?? 'new')}`)
  if (!(await api.find(refTo('ServiceAccount', namespace, 'default').path)))
    return inProgress('it has no service account yet')
  const quota = await api.find<KubernetesObject>(refTo('ResourceQuota', namespace, LIMITS).path)
  if (quota && Object.keys(fieldsOf(quota.status?.hard)).length === 0) return inProgress('its quota is not counted yet')
  return { status: { is: 'CURRENT', message: '' }, problem: null }
}

async function lookAtApp(target: Target): Promise<Look> {
  const deployment = await read(target)
  const status = statusOf(deployment)
  const { generation = 0 } = deployment.metadata
  // The controller's status and the pods are of an earlier spec.
  const isOld = numberOf(deployment.status?.observedGeneration) < generation
  if (status.is === 'CURRENT' || isOld) return { status, problem: null }
  return { status, problem: refusalOf(deployment) ?? (await problemOfPods(target, deployment)) }
}

/** Its pods are not even created. */
function refusalOf(deployment: KubernetesObject): Problem | null {
  const failure = conditionOf(deployment, 'ReplicaFailure')
  return failure?.status === 'True'
    ? { kind: 'REFUSED', code: codeOfRefusal(failure.text), message: failure.text }
    : null
}

async function problemOfPods({ api }: Target, deployment: KubernetesObject): Promise<Problem | null> {
  const pods = await newPodsOf(api, deployment)
  for (const pod of pods) {
    const pending = pendingProblem(pod)
    if (pending) return problemOfPending(pending, `pod ${pod.metadata.name}`)
  }
  for (const pod of pods) {
    const text = podProblem(pod)
    // It is started again, and may yet become ready.
    if (text !== null) return { kind: 'LASTING', code: 'NOT_READY', message: `pod ${pod.metadata.name}: ${text}` }
  }
  return null
}

const CODES = { FINAL: 'NOT_STARTED', IMAGE: 'IMAGE_FAILED', SCHEDULING: 'UNSCHEDULABLE' } as const

function problemOfPending({ kind, message }: PendingProblem, title: string): Problem {
  const code = kind === 'FINAL' && /image/i.test(message) ? 'IMAGE_FAILED' : CODES[kind]
  return { kind: kind === 'SCHEDULING' ? 'LASTING' : kind, code, message: `${title}: ${message}` }
}

import type { V1Pod } from '@kubernetes/client-node'
import type { KubernetesApi } from '../../../../agents/kubernetes/api.ts'
import { fieldsOf, type KubernetesObject, titleOf } from '../../../../agents/kubernetes/objects.ts'
import { type PendingProblem, ProblemTimeout, pendingProblem } from '../../../../agents/kubernetes/pending-problem.ts'
import { pollUntil } from '../../../../agents/kubernetes/poll.ts'
import { selectedBy } from '../../../../agents/kubernetes/selected-by.ts'
import { conditionOf, numberOf, type ObjectStatus } from '../../../../agents/kubernetes/status.ts'
import { problemOfPods, statusOf } from '../../../../agents/kubernetes/status-of.ts'
import { type CrmContext, CrmProblem } from '../../../../client/index.ts'
import { DEADLINE_SECONDS } from '../../protocol/kubernetes-specs.ts'
import { LIMITS } from './names.ts'
import { refTo } from './plan.ts'
import { codeOfRefusal } from './problems.ts'
import type { Target } from './target.ts'

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
interface Observation {
  readonly status: ObjectStatus
  readonly problem: Problem | null
}

/** Waits until the instance is ready. @throws CrmProblem when it cannot become so, or takes too long */
export async function untilReady(target: Target, context: Pick<CrmContext, 'signal' | 'progress'>): Promise<void> {
  const { signal, progress } = context
  const { observe, deadlineMs } = await observerOf(target)
  const timeout = new ProblemTimeout<Problem['kind']>({
    FINAL: 0,
    IMAGE: Math.min(IMAGE_MS, deadlineMs),
    LASTING: deadlineMs,
    REFUSED: Math.min(QUOTA_MS, deadlineMs),
  })
  const title = titleOf(target.anchor)
  let last = { message: '', at: performance.now() }
  const isReady = async (): Promise<boolean> => {
    const { status, problem } = await observe()
    if (status.is === 'CURRENT') return true
    const step = `${title}: ${status.message}${problem ? `; ${problem.message}` : ''}`
    const lasting = timeout.expired(problem)
    if (lasting) throw new CrmProblem(`${title}: ${lasting.message}`, lasting.code)
    if (status.message !== last.message) last = { message: status.message, at: performance.now() }
    const isLate = performance.now() - last.at > deadlineMs + LATE_MS
    if (status.is === 'FAILED' || isLate) throw new CrmProblem(step, problem?.code ?? 'NOT_READY')
    progress(step)
    return false
  }
  await pollUntil(isReady, signal, () => timeout.remainingMs + 1)
}

interface Observer {
  readonly deadlineMs: number
  observe(): Promise<Observation>
}

async function observerOf(target: Target): Promise<Observer> {
  if (target.kind === 'CLUSTER_INST') return { deadlineMs: CLUSTER_MS, observe: () => observeCluster(target) }
  const { spec } = await read(target)
  const { progressDeadlineSeconds = DEADLINE_SECONDS } = spec ?? {}
  return { deadlineMs: Number(progressDeadlineSeconds) * 1_000, observe: () => observeApp(target) }
}

async function read({ api, anchor }: Target): Promise<KubernetesObject> {
  const object = await api.find<KubernetesObject>(anchor.path)
  if (object && object.metadata.deletionTimestamp === undefined) return object
  throw new CrmProblem(`${titleOf(anchor)} was deleted while it was waited for.`, 'NOT_READY')
}

/** Pods are refused until their service account is there, and not counted before the quota is. */
async function observeCluster(target: Target): Promise<Observation> {
  const { api, namespace } = target
  const { status } = await read(target)
  const inProgress = (message: string): Observation => ({ status: { is: 'IN_PROGRESS', message }, problem: null })
  if (status?.phase !== 'Active') return inProgress(`it is ${String(status?.phase ?? 'new')}`)
  if (!(await api.find(refTo('ServiceAccount', namespace, 'default').path)))
    return inProgress('it has no service account yet')
  const quota = await api.find<KubernetesObject>(refTo('ResourceQuota', namespace, LIMITS).path)
  if (quota && Object.keys(fieldsOf(quota.status?.hard)).length === 0) return inProgress('its quota is not counted yet')
  return { status: { is: 'CURRENT', message: '' }, problem: null }
}

async function observeApp(target: Target): Promise<Observation> {
  const deployment = await read(target)
  const status = statusOf(deployment)
  const { generation = 0 } = deployment.metadata
  // The controller's status and the pods are of an earlier spec.
  const isOld = numberOf(deployment.status?.observedGeneration) < generation
  if (status.is === 'CURRENT' || isOld) return { status, problem: null }
  return { status, problem: refusalOf(deployment) ?? (await problemOfNewPods(target, deployment)) }
}

/** Its pods are not even created. */
function refusalOf(deployment: KubernetesObject): Problem | null {
  const failure = conditionOf(deployment, 'ReplicaFailure')
  return failure?.status === 'True'
    ? { kind: 'REFUSED', code: codeOfRefusal(failure.text), message: failure.text }
    : null
}

async function problemOfNewPods({ api }: Target, deployment: KubernetesObject): Promise<Problem | null> {
  const pods = await newPodsOf(api, deployment)
  for (const pod of pods) {
    const pending = pendingProblem(pod)
    if (pending) return problemOfPending(pending, `pod ${pod.metadata.name}`)
  }
  const message = problemOfPods(pods)
  // It is started again, and may yet become ready.
  return message === null ? null : { kind: 'LASTING', code: 'NOT_READY', message }
}

type Pod = KubernetesObject & V1Pod

/** By the deployment's controller, on the deployment and on its replica sets. */
const REVISION = 'deployment.kubernetes.io/revision'
const HASH = 'pod-template-hash'

/** The pods that a deployment makes by its present spec, without those of earlier ones. */
async function newPodsOf(api: KubernetesApi, deployment: KubernetesObject): Promise<readonly Pod[]> {
  const revision = deployment.metadata.annotations?.[REVISION]
  const sets = await selectedBy(api, deployment, 'replicasets')
  const hash = sets.find(({ metadata }) => metadata.annotations?.[REVISION] === revision)?.metadata.labels?.[HASH]
  if (revision === undefined || hash === undefined) return []
  const pods = await selectedBy<Pod>(api, deployment, 'pods')
  return pods.filter(({ metadata }) => metadata.labels?.[HASH] === hash && metadata.deletionTimestamp === undefined)
}

const CODES = { FINAL: 'NOT_STARTED', IMAGE: 'IMAGE_FAILED', SCHEDULING: 'UNSCHEDULABLE' } as const

function problemOfPending({ kind, message }: PendingProblem, title: string): Problem {
  const code = kind === 'FINAL' && /image/i.test(message) ? 'IMAGE_FAILED' : CODES[kind]
  return { kind: kind === 'SCHEDULING' ? 'LASTING' : kind, code, message: `${title}: ${message}` }
}

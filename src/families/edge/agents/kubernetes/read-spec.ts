import { CrmProblem } from '../../../../client/index.ts'
import { ConfigCheck } from '../../../../sandbox/check-config.ts'
import {
  DEADLINE_SECONDS,
  KUBERNETES_APP_SCHEMA,
  KUBERNETES_CLUSTER_SCHEMA,
  type KubernetesAppSpec,
  type KubernetesClusterSpec,
  MIN_READY_SECONDS,
} from '../../protocol/kubernetes-specs.ts'

const CLUSTER = new ConfigCheck(KUBERNETES_CLUSTER_SCHEMA, { hasExpressions: false })
const APP = new ConfigCheck(KUBERNETES_APP_SCHEMA, { hasExpressions: false })
/** It is kept in an annotation, twice while it changes; the API server takes 256 KiB of them. */
const MAX_CHARACTERS = 60_000
const MOST_PROBLEMS = 3

/** @throws CrmProblem that names the first wrong fields */
export const readClusterSpec = (spec: unknown): KubernetesClusterSpec => read(CLUSTER, spec) as KubernetesClusterSpec

/** @throws CrmProblem that names the first wrong fields */
export function readAppSpec(spec: unknown, isRootAllowed: boolean): KubernetesAppSpec {
  const app = read(APP, spec) as KubernetesAppSpec
  const { httpGet, tcpSocket, exec } = app.readinessProbe ?? {}
  if (app.readinessProbe && [httpGet, tcpSocket, exec].filter(Boolean).length !== 1)
    throw invalid('spec.readinessProbe: needs one of httpGet, tcpSocket and exec')
  const { minReadySeconds = MIN_READY_SECONDS, progressDeadlineSeconds = DEADLINE_SECONDS } = app
  if (progressDeadlineSeconds <= minReadySeconds)
    throw invalid(`spec.progressDeadlineSeconds: must be more than minReadySeconds, which is ${minReadySeconds}`)
  if (app.security === 'root-allowed' && !isRootAllowed)
    throw invalid('spec.security: root-allowed needs a CRM that its operator starts with --pod-security baseline')
  if (app.runAsUser === 0 && app.security !== 'root-allowed')
    throw invalid('spec.runAsUser: 0 is root, which needs security: root-allowed')
  return app
}

function read(check: ConfigCheck, spec: unknown): unknown {
  const problems = check.problemsOf(spec, 'spec')
  if (problems.length > 0) {
    const more = problems.length > MOST_PROBLEMS ? ` and ${problems.length - MOST_PROBLEMS} more` : ''
    throw invalid(
      problems
        .slice(0, MOST_PROBLEMS)
        .map(({ path, message }) => `${path}: ${message}`)
        .join('; ') + more,
    )
  }
  if (JSON.stringify(spec).length > MAX_CHARACTERS)
    throw invalid(`spec: is longer than ${MAX_CHARACTERS} characters as JSON`)
  return spec
}

const invalid = (message: string): CrmProblem => new CrmProblem(`${message}.`, 'SPEC_INVALID')

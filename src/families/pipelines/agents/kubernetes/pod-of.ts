import type { V1EnvVar, V1Pod, V1PodSpec, V1Secret, V1Volume, V1VolumeMount } from '@kubernetes/client-node'
import { StartProblem, type Workload } from '../runtime/runtime.ts'
import { workloadEnv } from '../runtime/workload-env.ts'
import { EVENT_KEY, fileKey, metaOf, secretKey, TOKEN_KEY } from './inputs-of.ts'
import { ANNOTATIONS, CONTAINER, claimName, FINALIZER, LABELS, workloadName } from './names.ts'
import type { PodSettings } from './settings.ts'

/** A workload as a pod. Nothing in it is secret: whoever may read pods can read all of it. */

const INPUT = '/run/phaseline'
const WORKSPACE = '/workspace'
/** The group that may write to volumes when the image names the user. */
const GROUP = 65_532
const READABLE = 0o444
const EXECUTABLE = 0o555
/** The API server takes little more. */
const MAX_BYTES = 1_000_000

export interface PodPlan {
  readonly workload: Workload
  readonly place: string
  readonly replica: string
  readonly receipt: string
  /** The API's URL as pods reach it. */
  readonly url: string
  readonly graceSeconds: number
  readonly settings: PodSettings
}

/** @throws StartProblem */
export function podOf(plan: PodPlan, owner: V1Secret): V1Pod {
  const { workload, place, replica, receipt } = plan
  const meta = metaOf(workload, place, owner)
  const pod: V1Pod = {
    metadata: {
      ...meta,
      labels: { ...meta.labels, [LABELS.replica]: replica },
      annotations: { [ANNOTATIONS.receipt]: receipt },
      finalizers: [FINALIZER],
    },
    spec: specOf(plan),
  }
  if (JSON.stringify(pod).length > MAX_BYTES)
    throw new StartProblem(`Its command and its variables are longer than the ${MAX_BYTES} bytes that a pod may have.`)
  return pod
}

function specOf({ workload, url, graceSeconds, settings }: PodPlan): V1PodSpec {
  const { image, command, args } = workload
  if (image === null) throw new StartProblem('It has no image: the kubernetes runtime runs images.')
  if ([...command, ...args].some((arg) => arg.includes('\0')))
    throw new StartProblem('The command must not hold a NUL.')
  const { serviceAccountName, imagePullPolicy, resources } = settings
  return {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: graceSeconds,
    enableServiceLinks: false,
    automountServiceAccountToken: serviceAccountName !== undefined,
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
    imagePullSecrets: settings.imagePullSecrets.map((name) => ({ name })),
    nodeSelector: settings.nodeSelector,
    tolerations: settings.tolerations.map(({ key, operator, value, effect, tolerationSeconds }) => ({
      ...(key === undefined ? {} : { key }),
      ...(operator === undefined ? {} : { operator }),
      ...(value === undefined ? {} : { value }),
      ...(effect === undefined ? {} : { effect }),
      ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    })),
    securityContext: podSecurity(settings),
    containers: [
      {
        name: CONTAINER,
        image,
        ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
        ...(command.length > 0 ? { command: command.map(literally) } : {}),
        ...(args.length > 0 ? { args: args.map(literally) } : {}),
        workingDir: WORKSPACE,
        env: envOf(workload, url),
        resources: { requests: resources.requests ?? {}, limits: resources.limits ?? {} },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: settings.readOnlyRootFilesystem,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: mountsOf(workload, settings),
      },
    ],
    volumes: volumesOf(workload, settings),
  }
}

const podSecurity = ({ security, runAsUser }: PodSettings): NonNullable<V1PodSpec['securityContext']> => ({
  runAsNonRoot: security === 'restricted',
  ...(runAsUser === undefined ? {} : { runAsUser, runAsGroup: runAsUser }),
  fsGroup: runAsUser ?? GROUP,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
})

/** Kubernetes replaces $(NAME) in commands and values, and `$$` by `$`. */
const literally = (text: string): string => text.replaceAll('$', '$$$$')

/** Secrets come from the secret, so that a pod's description names them and does not show them. */
function envOf(workload: Workload, url: string): V1EnvVar[] {
  const { id, secrets } = workload
  const env = workloadEnv({}, workload, {
    url,
    workingFolder: WORKSPACE,
    eventFile: `${INPUT}/${EVENT_KEY}`,
    secretsFolder: `${INPUT}/secrets`,
  })
  const from = (key: string): Pick<V1EnvVar, 'valueFrom'> => ({
    valueFrom: { secretKeyRef: { name: workloadName(id), key } },
  })
  return Object.entries(env).map(([name, value]) => {
    if (name === 'PHASELINE_TOKEN') return { name, ...from(TOKEN_KEY) }
    if (secrets[name] === value) return { name, ...from(secretKey(name)) }
    return { name, value: literally(value) }
  })
}

function volumesOf(workload: Workload, settings: PodSettings): V1Volume[] {
  const { id, files, secrets, token, workspace } = workload
  const items = [
    { key: EVENT_KEY, path: EVENT_KEY },
    ...(token === null ? [] : [{ key: TOKEN_KEY, path: TOKEN_KEY }]),
    ...Object.keys(secrets).map((name) => ({ key: secretKey(name), path: `secrets/${name}` })),
  ]
  const modes = files.map(({ content }, index) => ({
    key: fileKey(index),
    path: fileKey(index),
    mode: content.startsWith('#!') ? EXECUTABLE : READABLE,
  }))
  return [
    { name: 'input', secret: { secretName: workloadName(id), defaultMode: READABLE, items } },
    workspace === null
      ? { name: 'workspace', emptyDir: {} }
      : { name: 'workspace', persistentVolumeClaim: { claimName: claimName(workspace) } },
    ...(files.length > 0 ? [{ name: 'files', configMap: { name: workloadName(id), items: modes } }] : []),
    ...(settings.readOnlyRootFilesystem ? [{ name: 'tmp', emptyDir: {} }] : []),
  ]
}

const mountsOf = ({ files }: Workload, settings: PodSettings): V1VolumeMount[] => [
  { name: 'input', mountPath: INPUT, readOnly: true },
  { name: 'workspace', mountPath: WORKSPACE },
  ...files.map(({ path }, index) => ({
    name: 'files',
    mountPath: `${WORKSPACE}/${path}`,
    subPath: fileKey(index),
    readOnly: true,
  })),
  ...(settings.readOnlyRootFilesystem ? [{ name: 'tmp', mountPath: '/tmp' }] : []),
]

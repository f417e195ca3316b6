import type {
  V1Container,
  V1EnvVar,
  V1HostAlias,
  V1Pod,
  V1PodSpec,
  V1Secret,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node'
import { cloneEnv } from '../../../../agents/git/clone.ts'
import type { CloneOptions } from '../../../../agents/git/clone-options.ts'
import { CLONE_SCRIPT } from '../../../../agents/git/clone-script.ts'
import { hardenedContainer, hardenedPod, literally } from '../../../../agents/kubernetes/hardened-pod.ts'
import { requireCloneable } from '../runtime/clone.ts'
import { type Repository, StartProblem, type Workload } from '../runtime/runtime.ts'
import { GIT_IN_CONTAINER, workloadEnv } from '../runtime/workload-env.ts'
import { isScript, partsOf } from '../runtime/workload-files.ts'
import { leavesContainer, takesContainer } from './artifact-containers.ts'
import { CREDENTIALS_KEY, EVENT_KEY, fileKey, metaOf, secretKey, TOKEN_KEY, textsOf } from './inputs-of.ts'
import {
  ANNOTATIONS,
  CLONE_CONTAINER,
  CONTAINER,
  claimName,
  FINALIZER,
  LABELS,
  WORKSPACE,
  workloadName,
} from './names.ts'
import type { PodSettings } from './settings.ts'

/** A workload as a pod. Nothing in it is secret: whoever may read pods can read all of it. */

const INPUT = '/run/phaseline'
const CLONE_INPUT = '/run/phaseline-clone'
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
  readonly clone: CloneOptions
  /** The image with `git` and `sh` that clones; null: the workload's own. */
  readonly cloneImage: string | null
  /** The image with `sh`, `tar` and `dd` that hands artifacts over; null: the workload's own. */
  readonly artifactImage: string | null
  /** The services of the workload, which are ready. */
  readonly hosts: readonly V1HostAlias[]
}

/** @throws StartProblem */
export function podOf(plan: PodPlan, owner: V1Secret): V1Pod {
  const { workload, place, replica, receipt } = plan
  const meta = metaOf(workload, place, owner)
  const pod: V1Pod = {
    metadata: {
      ...meta,
      labels: { ...meta.labels, [LABELS.replica]: replica },
      ...(workload.takes?.length ? {} : startedAs(receipt)),
    },
    spec: specOf(plan),
  }
  if (JSON.stringify(pod).length > MAX_BYTES)
    throw new StartProblem(`Its command and its variables are longer than the ${MAX_BYTES} bytes that a pod may have.`)
  return pod
}

/** The pod is its workload's from now on, and its record is kept. */
export const startedAs = (receipt: string) => ({
  annotations: { [ANNOTATIONS.receipt]: receipt },
  finalizers: [FINALIZER],
})

/** The part of its spec that the pods of workloads and of services share. */
export function podBaseOf(settings: PodSettings, graceSeconds: number): Omit<V1PodSpec, 'containers'> {
  const { serviceAccountName } = settings
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
    securityContext: {
      ...hardenedPod(settings),
      fsGroup: settings.runAsUser ?? GROUP,
      fsGroupChangePolicy: 'OnRootMismatch',
    },
  }
}

function specOf(plan: PodPlan): V1PodSpec {
  const { workload, url, graceSeconds, settings } = plan
  const { image, command, args, takes = [], leaves = false } = workload
  if (image === null) throw new StartProblem('It has no image: the kubernetes runtime runs images.')
  const { imagePullPolicy, resources } = settings
  return {
    ...podBaseOf(settings, graceSeconds),
    ...(plan.hosts.length > 0 ? { hostAliases: [...plan.hosts] } : {}),
    initContainers: [
      ...(workload.clone ? [cloneContainer(plan, workload.clone)] : []),
      ...(takes.length > 0 ? [takesContainer(settings, plan.artifactImage ?? image)] : []),
    ],
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
        securityContext: hardenedContainer(settings.readOnlyRootFilesystem),
        volumeMounts: mountsOf(workload, settings),
      },
      ...(leaves ? [leavesContainer(settings, plan.artifactImage ?? image, filesOf(workload))] : []),
    ],
    volumes: volumesOf(workload, settings),
  }
}

const mounted = (path: string, name: string, subPath: string): V1VolumeMount => ({
  ...{ name, subPath },
  mountPath: `${WORKSPACE}/${path}`,
  readOnly: true,
})

/** Clones before the command, in the network of the pod. It tells the commit, or what went wrong, as its termination message. */
function cloneContainer({ workload, settings, clone: options, cloneImage }: PodPlan, clone: Repository): V1Container {
  requireCloneable(clone, options)
  const { imagePullPolicy, resources, readOnlyRootFilesystem } = settings
  const env = {
    ...cloneEnv(clone, options),
    CLONE_FOLDER: [WORKSPACE, ...(clone.path === null ? [] : partsOf(clone.path))].join('/'),
    CLONE_CREDENTIALS: `${CLONE_INPUT}/${CREDENTIALS_KEY}`,
    CLONE_RESULT: '/dev/termination-log',
  }
  return {
    name: CLONE_CONTAINER,
    image: cloneImage ?? workload.image ?? '',
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    command: ['/bin/sh', '-c', CLONE_SCRIPT].map(literally),
    env: Object.entries(env).map(([name, value]) => ({ name, value: literally(value) })),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources: { requests: resources.requests ?? {}, limits: resources.limits ?? {} },
    securityContext: hardenedContainer(readOnlyRootFilesystem),
    volumeMounts: [
      { name: 'workspace', mountPath: WORKSPACE },
      { name: 'clone', mountPath: CLONE_INPUT, readOnly: true },
    ],
  }
}

/** Secrets come from the secret, so that a pod's description names them and does not show them. */
function envOf(workload: Workload, url: string): V1EnvVar[] {
  const { id, secrets } = workload
  const given = workload.clone || workload.workspace !== null ? { ...GIT_IN_CONTAINER, ...workload.env } : workload.env
  const env = workloadEnv(
    {},
    { ...workload, env: given },
    {
      url,
      workingFolder: WORKSPACE,
      eventFile: `${INPUT}/${EVENT_KEY}`,
      secretsFolder: `${INPUT}/secrets`,
    },
  )
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
  const { id, secrets, token, workspace } = workload
  const files = textsOf(workload)
  const items = [
    { key: EVENT_KEY, path: EVENT_KEY },
    ...(token === null ? [] : [{ key: TOKEN_KEY, path: TOKEN_KEY }]),
    ...Object.keys(secrets).map((name) => ({ key: secretKey(name), path: `secrets/${name}` })),
  ]
  const modes = files.map(({ content }, index) => ({
    key: fileKey(index),
    path: fileKey(index),
    mode: isScript(content) ? EXECUTABLE : READABLE,
  }))
  return [
    { name: 'input', secret: { secretName: workloadName(id), defaultMode: READABLE, items } },
    workspace === null
      ? { name: 'workspace', emptyDir: {} }
      : { name: 'workspace', persistentVolumeClaim: { claimName: claimName(workspace) } },
    ...(files.length > 0 ? [{ name: 'files', configMap: { name: workloadName(id), items: modes } }] : []),
    ...(workload.clone ? [cloneVolume(id)] : []),
    ...(settings.readOnlyRootFilesystem ? [{ name: 'tmp', emptyDir: {} }] : []),
  ]
}

const cloneVolume = (id: string): V1Volume => ({
  name: 'clone',
  secret: {
    secretName: workloadName(id),
    defaultMode: READABLE,
    items: [{ key: CREDENTIALS_KEY, path: CREDENTIALS_KEY }],
  },
})

const filesOf = (workload: Workload): V1VolumeMount[] =>
  textsOf(workload).map(({ path }, index) => mounted(path, 'files', fileKey(index)))

const mountsOf = (workload: Workload, settings: PodSettings): V1VolumeMount[] => [
  { name: 'input', mountPath: INPUT, readOnly: true },
  { name: 'workspace', mountPath: WORKSPACE },
  ...filesOf(workload),
  ...workload.files.flatMap(({ path, secret }) =>
    secret === undefined ? [] : mounted(path, 'input', `secrets/${secret}`),
  ),
  ...(settings.readOnlyRootFilesystem ? [{ name: 'tmp', mountPath: '/tmp' }] : []),
]

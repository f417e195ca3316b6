import { LimitRequestInput } from '../../families/limit-input.ts'
import { RetryPolicyInput } from '../../families/retry-input.ts'
import { GATE_TEXT } from '../../families/start-gate.ts'
import { LabelInput } from '../../graphql/objects/label-input.ts'
import { builder } from '../../graphql/schema/builder.ts'
import { ArtifactWhenEnum } from './workload-spec.ts'

/** The program of a worker template or a job, as the API takes it. */

/** Descriptions of fields that a worker template and a job share. */
export const WORKLOAD = {
  runtime: 'Letters, digits, . _ / and -.',
  image:
    'Image to run, not empty, for runtimes that have images; required there without a command. The runtime process refuses it. Left out or null: none.',
  command:
    'Program and its first arguments, run without a shell; required by the runtime process. Together with args at most 1,024 parts and 256 KiB. Left out or null: none.',
  args: 'Arguments after those of the command. Left out or null: none.',
  env: 'Environment variables, together at most 256 KiB. Left out or null: none.',
  files: 'Files written into the working folder before the start, together at most 512 KiB. Left out or null: none.',
  targetLabels: 'Labels that its place must have, each with this value.',
  limits:
    'Limits of the project that it holds from STARTING until its process has ended, all or none. Each stands once.',
  gate: `Gate at which it waits before it asks for a slot. ${GATE_TEXT} Left out or null: none.`,
  caches:
    'Files and folders that it finds as an earlier program of the project has left them, if there are any. Left out or null: none.',
  services:
    'Programs that run beside it, such as a database for tests. They start before it, one after the other, and end with it. Left out or null: none.',
  artifacts:
    'Files and folders that are kept when it has ended, for other jobs and for readers. Left out or null: none.',
  clone: 'Repository that the runtime clones before the start. Left out or null: none.',
  timeoutMs: 'Milliseconds, from 1, between the first claim by a runtime and its end as TIMED_OUT.',
} as const

export const EnvInput = builder.inputType('EnvInput', {
  description: 'An environment variable of a worker or a job. The runtime process prefers a secret of the same name.',
  fields: (t) => ({
    name: t.string({
      required: true,
      limit: 'variable',
      description: 'A letter or _, then letters, digits or _. Each name stands once, and none starts with PHASELINE_.',
    }),
    value: t.string({
      required: true,
      limit: 'argument',
      description: 'All who may read the project can read it: secrets are set with setSecret.',
    }),
  }),
})
export const FileInput = builder.inputType('FileInput', {
  description: 'A file that the runtime writes into the working folder before the start.',
  fields: (t) => ({
    path: t.string({
      required: true,
      limit: 'filePath',
      description:
        'Path relative to the working folder, with / between its parts, without . or .. in it. Each path stands once.',
    }),
    content: t.string({
      limit: 'fileContent',
      description:
        'Text of the file. All who may read the object can read it. Left out or null: secret names its content.',
    }),
    secret: t.string({
      limit: 'variable',
      description:
        'Name of the secret of the project that is the content. The workload gets that secret as no variable. Left out or null: content is given.',
    }),
  }),
})
export const CloneInput = builder.inputType('CloneInput', {
  description:
    'A Git repository that the runtime clones before the start. It runs no hooks and no filters, and clones no submodules.',
  fields: (t) => ({
    url: t.string({
      required: true,
      limit: 'repository',
      description:
        'Address that begins with https://, without credentials. A runtime may permit some hosts alone, and http:// or file:// for what it names.',
    }),
    ref: t.string({
      limit: 'ref',
      description:
        'Branch, tag, whole ref or whole commit, or a text with expressions over `event`: its source, type, qualifiers, labels, and its payload as JSON, as in ${event.payload.after}. Left out or null: the default branch.',
    }),
    depth: t.int({
      description: 'Count of commits of history to clone, from 1; 0 for all. Left out or null: 1.',
    }),
    path: t.string({
      limit: 'filePath',
      description:
        'Folder of the clone, relative to the working folder, without . or .. in it. Left out or null: the working folder.',
    }),
    secret: t.string({
      limit: 'variable',
      description:
        'Name of the secret of the project with a token, or with user:password. The runtime alone gets it; the workload does not. Left out or null: the repository needs none.',
    }),
  }),
})

export const ArtifactInput = builder.inputType('ArtifactInput', {
  description: 'A file or a folder of the working folder that the runtime keeps when the program has ended.',
  fields: (t) => ({
    name: t.string({
      required: true,
      limit: 'artifactName',
      description: 'A letter, a digit or _, then letters, digits, ., _ or -. Each name stands once.',
    }),
    path: t.string({
      required: true,
      limit: 'filePath',
      description: 'Path relative to the working folder, with / between its parts, without . or .. in it.',
    }),
    when: t.field({
      type: ArtifactWhenEnum,
      required: true,
      defaultValue: 'SUCCESS',
      description: 'After which ends it is kept.',
    }),
    optional: t.boolean({
      required: true,
      defaultValue: false,
      description: 'True if the program may succeed without it: then a line of output says why it is missing.',
    }),
  }),
})
export const CacheInput = builder.inputType('CacheInput', {
  description:
    'A file or a folder of the working folder that workloads of a project find as an earlier one has left it. It is kept when a program has ended with exit code 0 and the cache of the project has no entry with the key.',
  fields: (t) => ({
    key: t.string({
      required: true,
      limit: 'cacheKey',
      description:
        'One line that is not empty. An entry never changes: other content has another key. Each key stands once.',
    }),
    restoreKeys: t.stringList({
      limit: 'restoreKeys',
      description:
        'Prefixes: without an entry of the key, the newest whose key begins with the longest of them is found. Left out or null: none.',
    }),
    path: t.string({
      required: true,
      limit: 'filePath',
      description:
        'Path relative to the working folder, with / between its parts, without . or .. in it. Each path stands once.',
    }),
  }),
})
export const TakeInput = builder.inputType('TakeInput', {
  description: 'An artifact of a job of the same event that the runtime puts into the working folder before the start.',
  fields: (t) => ({
    artifact: t.string({ required: true, limit: 'artifactName', description: 'Name of the artifact.' }),
    from: t.string({
      limit: 'name',
      description: 'Name of the job that has left it. Left out or null: the job that has left one of this name last.',
    }),
    path: t.string({
      limit: 'filePath',
      description:
        'Path of the file or folder, relative to the working folder. Left out or null: the name of the artifact. Each path stands once.',
    }),
  }),
})

const ServiceReadinessInput = builder.inputType('ServiceReadinessInput', {
  description: 'When a service is ready: what it runs beside starts only then.',
  fields: (t) => ({
    port: t.int({
      description:
        'Port at which it accepts connections, from 1 to 65,535. Left out or null, and without a command: its first port.',
    }),
    command: t.stringList({
      limit: 'argv',
      description:
        'Command that is run where the service runs, without a shell, until it ends with exit code 0. Left out or null: none.',
    }),
    timeoutMs: t.int({
      description:
        'Milliseconds after its start, from 1 to 3,600,000, by which it has to be ready. Left out or null: 60,000.',
    }),
  }),
})
export const ServiceInput = builder.inputType('ServiceInput', {
  description:
    'A program that runs beside a worker or a job. It is found at the host and the port in the variables <NAME>_HOST and <NAME>_PORT, and in containers and pods by its name, too.',
  fields: (t) => ({
    name: t.string({
      required: true,
      limit: 'serviceName',
      description: 'Name of its host: a small letter, then small letters, digits and -. Each name stands once.',
    }),
    image: t.string({ limit: 'image', description: WORKLOAD.image }),
    command: t.stringList({ limit: 'argv', description: WORKLOAD.command }),
    args: t.stringList({ limit: 'argv', description: WORKLOAD.args }),
    env: t.field({ type: [EnvInput], limit: 'env', description: WORKLOAD.env }),
    secrets: t.stringList({
      limit: 'serviceSecrets',
      description: 'Names of the secrets of the project that it gets, as a worker gets all. Left out or null: none.',
    }),
    ports: t.intList({
      limit: 'servicePorts',
      description:
        'Ports at which it listens, from 1 to 65,535; the first one is in <NAME>_PORT. Left out or null: none.',
    }),
    user: t.int({
      description:
        'Id of its user in its container, where the runtime does not choose it; the runtime process refuses it. Left out or null: the user of the image.',
    }),
    readiness: t.field({
      type: ServiceReadinessInput,
      description:
        'When it is ready. Left out or null: when it accepts connections at its first port; without ports, when it runs.',
    }),
  }),
})

export const WorkerTemplateInput = builder.inputType('WorkerTemplateInput', {
  description: 'The program that the workers of a project run.',
  fields: (t) => ({
    runtime: t.string({
      required: true,
      defaultValue: 'process',
      limit: 'workType',
      description: `Type of the agent that starts them. ${WORKLOAD.runtime}`,
    }),
    image: t.string({ limit: 'image', description: WORKLOAD.image }),
    command: t.stringList({ limit: 'argv', description: WORKLOAD.command }),
    args: t.stringList({ limit: 'argv', description: WORKLOAD.args }),
    env: t.field({ type: [EnvInput], limit: 'env', description: WORKLOAD.env }),
    files: t.field({ type: [FileInput], limit: 'files', description: WORKLOAD.files }),
    clone: t.field({ type: CloneInput, description: WORKLOAD.clone }),
    timeoutMs: t.int({ description: `${WORKLOAD.timeoutMs} Left out or null: no limit.` }),
    retry: t.field({
      type: RetryPolicyInput,
      description:
        'Policy for further attempts of a worker after its program has failed, could not be started, took too long for an attempt, or was lost with its runtime. Left out or null: the first failure is final.',
    }),
    workspace: t.boolean({
      required: true,
      defaultValue: false,
      description: 'True if jobs may work in the working folder of their worker.',
    }),
    targetLabels: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: `${WORKLOAD.targetLabels} Left out or null: any place of the runtime.`,
    }),
    limits: t.field({
      type: [LimitRequestInput],
      limit: 'limitRequests',
      description: `${WORKLOAD.limits} An event is refused if the project lacks one by then. Left out or null: none.`,
    }),
    gate: t.field({ type: 'JSON', limit: 'json', description: WORKLOAD.gate }),
    services: t.field({ type: [ServiceInput], limit: 'services', description: WORKLOAD.services }),
    artifacts: t.field({ type: [ArtifactInput], limit: 'artifacts', description: WORKLOAD.artifacts }),
    caches: t.field({ type: [CacheInput], limit: 'caches', description: WORKLOAD.caches }),
  }),
})

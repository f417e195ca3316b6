import { LimitRequestRef } from '../../families/limit-input.ts'
import { RetryPolicyRef } from '../../families/retry-input.ts'
import { EnvVariableRef, LabelRef } from '../../graphql/objects/object-parts.ts'
import { builder } from '../../graphql/schema/builder.ts'
import type {
  ArtifactSpec,
  CacheSpec,
  CloneSpec,
  FileSpec,
  ReadinessSpec,
  ServiceSpec,
  TakeSpec,
  WorkloadSpec,
} from '../rules/spec.ts'

/** The program of a worker or job, as the API shows it. */

const FileRef = builder.objectRef<FileSpec>('WorkloadFile').implement({
  description: 'A file that the runtime writes into the working folder before the start.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Path relative to the working folder, with / between its parts.' }),
    content: t.exposeString('content', {
      description: 'Text of the file, readable by all who may read the object; empty if a secret is its content.',
    }),
    secret: t.string({
      nullable: true,
      description: 'Name of the secret of the project that is its content; null if the content is given.',
      resolve: ({ secret }) => secret ?? null,
    }),
  }),
})

const CloneRef = builder.objectRef<CloneSpec>('WorkloadClone').implement({
  description: 'A Git repository that the runtime clones before the start.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Address of the repository, without credentials.' }),
    ref: t.exposeString('ref', {
      nullable: true,
      description:
        'Branch, tag or commit, or an expression over the event that yields one; null for the default branch of the repository.',
    }),
    depth: t.exposeInt('depth', { description: 'Count of commits of history that are cloned; 0 for all.' }),
    path: t.exposeString('path', {
      nullable: true,
      description: 'Folder of the clone, relative to the working folder; null if it is the working folder.',
    }),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'Name of the secret with the credentials of the repository; null if it needs none.',
    }),
  }),
})

export const ArtifactWhenEnum = builder.enumType('ArtifactWhen', {
  description: 'The ends of a program after which an artifact is kept.',
  values: {
    SUCCESS: { description: 'It has ended with exit code 0.' },
    ALWAYS: { description: 'It has ended by itself, with whatever exit code or signal.' },
  } as const,
})
const ArtifactSpecRef = builder.objectRef<ArtifactSpec>('ArtifactSpec').implement({
  description: 'A file or a folder of the working folder that the runtime keeps when the program has ended.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the artifact, unique in the worker or job.' }),
    path: t.exposeString('path', { description: 'Path relative to the working folder, with / between its parts.' }),
    when: t.expose('when', { type: ArtifactWhenEnum, description: 'After which ends it is kept.' }),
    optional: t.exposeBoolean('optional', { description: 'True if the program may succeed without it.' }),
  }),
})
const CacheSpecRef = builder.objectRef<CacheSpec>('CacheSpec').implement({
  description: 'A file or a folder that workloads of a project find as an earlier one has left it.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Key of the entry.' }),
    restoreKeys: t.stringList({
      description: 'Prefixes of keys that will do, too; at most 8.',
      resolve: ({ restoreKeys }) => [...restoreKeys],
    }),
    path: t.exposeString('path', { description: 'Path relative to the working folder, with / between its parts.' }),
  }),
})
const TakeSpecRef = builder.objectRef<TakeSpec>('TakeSpec').implement({
  description: 'An artifact of a job of the same event that the runtime puts into the working folder before the start.',
  fields: (t) => ({
    artifact: t.exposeString('artifact', { description: 'Name of the artifact.' }),
    from: t.exposeString('from', {
      nullable: true,
      description: 'Name of the job that has left it; null: the job that has left one of this name last.',
    }),
    path: t.exposeString('path', { description: 'Path of the file or folder, relative to the working folder.' }),
  }),
})

const ServiceReadinessRef = builder.objectRef<ReadinessSpec>('ServiceReadiness').implement({
  description: 'When a service is ready. Without a port and a command, it is ready as soon as it runs.',
  fields: (t) => ({
    port: t.exposeInt('port', {
      nullable: true,
      description: 'Port at which it accepts connections then; null if a command says it, or nothing does.',
    }),
    command: t.stringList({
      description: 'Command that ends with exit code 0 then; empty if there is none.',
      resolve: ({ command }) => [...command],
    }),
    timeoutMs: t.exposeInt('timeoutMs', {
      description: 'Milliseconds after its start by which it has to be ready.',
    }),
  }),
})
const ServiceSpecRef = builder.objectRef<ServiceSpec>('ServiceSpec').implement({
  description: 'A program that runs beside a worker or a job, starts before it and ends with it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of its host, unique in the worker or job.' }),
    image: t.exposeString('image', {
      nullable: true,
      description: 'Image to run, for runtimes that have images; null if the command is run without one.',
    }),
    command: t.stringList({
      description: 'Program and its first arguments, run without a shell; empty if the image says what to run.',
      resolve: ({ command }) => [...command],
    }),
    args: t.stringList({ description: 'Arguments after those of the command.', resolve: ({ args }) => [...args] }),
    env: t.field({
      type: [EnvVariableRef],
      description: 'Environment variables; at most 256.',
      resolve: ({ env }) => Object.entries(env).map(([name, value]) => ({ name, value })),
    }),
    secrets: t.stringList({
      description: 'Names of the secrets of the project that it gets; at most 64.',
      resolve: ({ secrets }) => [...secrets],
    }),
    ports: t.intList({ description: 'Ports at which it listens; at most 8.', resolve: ({ ports }) => [...ports] }),
    user: t.exposeInt('user', {
      nullable: true,
      description: 'Id of its user in its container; null: the user of the image.',
    }),
    readiness: t.expose('readiness', { type: ServiceReadinessRef, description: 'When it is ready.' }),
  }),
})

export const WorkloadSpecRef = builder.objectRef<WorkloadSpec>('WorkloadSpec').implement({
  description: 'Specification of a program: of the workers of a project, of one worker, or of one job.',
  fields: (t) => ({
    runtime: t.exposeString('runtime', { description: 'Type of the agent that starts it, e.g. process.' }),
    image: t.exposeString('image', {
      nullable: true,
      description: 'Image to run, for runtimes that have images; null if the command is run without one.',
    }),
    command: t.stringList({
      description: 'Program and its first arguments, run without a shell; empty if the image says what to run.',
      resolve: ({ command }) => [...command],
    }),
    args: t.stringList({ description: 'Arguments after those of the command.', resolve: ({ args }) => [...args] }),
    env: t.field({
      type: [EnvVariableRef],
      description:
        'Environment variables; at most 256. Secrets are added at the start, take the place of a variable of their name, and are never shown.',
      resolve: ({ env }) => Object.entries(env).map(([name, value]) => ({ name, value })),
    }),
    files: t.field({
      type: [FileRef],
      description: 'Files written into the working folder before the start; at most 64.',
      resolve: ({ files }) => [...files],
    }),
    clone: t.field({
      type: CloneRef,
      nullable: true,
      description: 'Repository that the runtime clones before the start; null if there is none.',
      resolve: ({ clone }) => clone ?? null,
    }),
    timeoutMs: t.exposeInt('timeoutMs', {
      nullable: true,
      description: 'Milliseconds from the first claim by a runtime until it ends as TIMED_OUT; null: no limit.',
    }),
    retry: t.field({
      type: RetryPolicyRef,
      nullable: true,
      description: 'Policy for further attempts; null: the first failure is final.',
      resolve: ({ retry }) => retry ?? null,
    }),
    workspace: t.exposeBoolean('workspace', {
      description:
        'For a worker: whether its jobs may work in its working folder. For a job: whether it works in that of its worker.',
    }),
    targetLabels: t.field({
      type: [LabelRef],
      description: 'Labels that its place must have; empty: any place of the runtime. At most 64.',
      resolve: ({ targetLabels = {} }) => Object.entries(targetLabels).map(([key, value]) => ({ key, value })),
    }),
    limits: t.field({
      type: [LimitRequestRef],
      description:
        'Limits of the project that it holds from STARTING until its process has ended, their keys with expressions unresolved; at most 4.',
      resolve: ({ limits = [] }) => [...limits],
    }),
    gate: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Gate at which it waits before it asks for a slot, as it was written; null: none.',
      resolve: ({ gate }) => gate,
    }),
    services: t.field({
      type: [ServiceSpecRef],
      description: 'Programs that run beside it, in the order in which they start; at most 8.',
      resolve: ({ services = [] }) => [...services],
    }),
    artifacts: t.field({
      type: [ArtifactSpecRef],
      description: 'Files and folders that are kept when it has ended; at most 16.',
      resolve: ({ artifacts = [] }) => [...artifacts],
    }),
    caches: t.field({
      type: [CacheSpecRef],
      description: 'Files and folders that it finds as an earlier one of the project has left them; at most 8.',
      resolve: ({ caches = [] }) => [...caches],
    }),
    takes: t.field({
      type: [TakeSpecRef],
      description: 'Artifacts of other jobs that it finds in its working folder; at most 16.',
      resolve: ({ takes = [] }) => [...takes],
    }),
  }),
})

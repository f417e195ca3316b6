import { LabelRef } from '../../../graphql/objects/object-parts.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import type { FileSpec, WorkloadSpec } from '../rules/spec.ts'

/** The program of a worker or job, as the API shows it. */

const EnvVariableRef = builder.objectRef<{ readonly name: string; readonly value: string }>('EnvVariable').implement({
  description: 'An environment variable of a worker or a job. The runtime process prefers a secret of the same name.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Letters, digits and _, at most 128 characters.' }),
    value: t.exposeString('value', { description: 'Text of at most 64 KiB, readable by all who may read the object.' }),
  }),
})

const FileRef = builder.objectRef<FileSpec>('WorkloadFile').implement({
  description: 'A file that the runtime writes into the working folder before the start.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Path relative to the working folder, with / between its parts.' }),
    content: t.exposeString('content', { description: 'Text of the file, readable by all who may read the object.' }),
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
      description: 'Environment variables; at most 256. Secrets are added at the start and never shown.',
      resolve: ({ env }) => Object.entries(env).map(([name, value]) => ({ name, value })),
    }),
    files: t.field({
      type: [FileRef],
      description: 'Files written into the working folder before the start; at most 64.',
      resolve: ({ files }) => [...files],
    }),
    timeoutMs: t.exposeInt('timeoutMs', {
      nullable: true,
      description: 'Milliseconds from the first claim by a runtime until it ends as TIMED_OUT; null: no limit.',
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
  }),
})

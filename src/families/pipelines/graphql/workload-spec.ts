import { builder } from '../../../graphql/builder.ts'
import type { FileSpec, WorkloadSpec } from '../spec.ts'

/** What runs, as the API shows it. */

const EnvVariableRef = builder
  .objectRef<{ readonly name: string; readonly value: string }>('EnvVariable')
  .implement({ fields: (t) => ({ name: t.exposeString('name'), value: t.exposeString('value') }) })

const FileRef = builder
  .objectRef<FileSpec>('WorkloadFile')
  .implement({ fields: (t) => ({ path: t.exposeString('path'), content: t.exposeString('content') }) })

export const WorkloadSpecRef = builder.objectRef<WorkloadSpec>('WorkloadSpec').implement({
  description: 'What runs: of the workers of a project, of one worker, of one job.',
  fields: (t) => ({
    runtime: t.exposeString('runtime'),
    image: t.exposeString('image', { nullable: true }),
    command: t.stringList({ resolve: ({ command }) => [...command] }),
    args: t.stringList({ resolve: ({ args }) => [...args] }),
    env: t.field({
      type: [EnvVariableRef],
      resolve: ({ env }) => Object.entries(env).map(([name, value]) => ({ name, value })),
    }),
    files: t.field({ type: [FileRef], resolve: ({ files }) => [...files] }),
    timeoutMs: t.exposeInt('timeoutMs', { nullable: true }),
    workspace: t.exposeBoolean('workspace', {
      description: 'A worker: it has a workspace, for its jobs too. A job: it works in that of its worker.',
    }),
  }),
})

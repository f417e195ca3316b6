import { NO_TARGET } from '../../core/audit.ts'
import type { OutputQuery } from '../../log/output/search-output.ts'
import { wordsOf } from '../../log/words.ts'
import { loadProjects } from '../../store/loaders/projects.ts'
import { callerOf } from '../audit/caller-of.ts'
import { noteLogsRead } from '../audit/note-read.ts'
import type { GraphQLContext } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { LogStreamEnum } from '../schema/enums.ts'
import { badInput } from '../schema/limits.ts'

export const OutputFilterRef = builder.inputType('OutputFilter', {
  description:
    'Lines of output for which every given field holds. A field that is left out or null holds for all. At most one of `objectId`, `rootId` and `project` is given.',
  fields: (t) => ({
    project: t.string({ limit: 'reference', description: 'Name of the project: output of all its objects.' }),
    rootId: t.id({ description: 'Id of a root: output of its whole tree.' }),
    objectId: t.id({ description: 'Id of an object: its own output.' }),
    streams: t.field({
      type: [LogStreamEnum],
      limit: 'choices',
      description: 'Streams, of which the line must be of one.',
    }),
    since: t.field({ type: 'DateTime', description: 'Time at or after which the line must be written.' }),
    until: t.field({ type: 'DateTime', description: 'Time before which the line must be written.' }),
    search: t.string({
      limit: 'search',
      description:
        'Words, of which the text of the line must contain each, in any order. The case of A to Z is ignored. Lines of the stream SYSTEM are not searched.',
    }),
  }),
})
type GivenFilter = typeof OutputFilterRef.$inferInput

/** Null if the filter names something that the viewer cannot read, so that nothing matches. Notes who has read what. */
export async function outputQueryOf(
  context: GraphQLContext,
  filter: GivenFilter | null | undefined,
): Promise<OutputQuery | null> {
  const { project, rootId, objectId, streams, since, until, search } = filter ?? {}
  const words = wordsOf(search ?? '')
  const scope = await scopeOf(context, { project, rootId, objectId })
  return (
    scope && {
      ...scope,
      streams: streams ?? undefined,
      since: since ?? undefined,
      until: until ?? undefined,
      words: words.length > 0 ? words : undefined,
    }
  )
}

type Scope = Pick<OutputQuery, 'projects' | 'rootId' | 'objectId'>

async function scopeOf(
  context: GraphQLContext,
  { project, rootId, objectId }: Pick<GivenFilter, 'project' | 'rootId' | 'objectId'>,
): Promise<Scope | null> {
  const { viewer, pool } = context
  if ([project, rootId, objectId].filter((given) => given != null).length > 1) {
    throw badInput('Give one of objectId, rootId and project: each stands for its own output.')
  }
  const id = objectId ?? rootId ?? (project == null ? viewer.rootId : undefined)
  if (id != null) {
    const object = await objectLoader(context).load(id)
    if (!object) return null
    noteLogsRead(context, object)
    const { projects } = viewer
    if (objectId != null) return { projects, objectId: object.id }
    return object.parentId === null ? { projects, rootId: object.id } : null
  }
  if (viewer.rootId !== undefined) return null
  if (project == null) {
    noteOutputRead(context, null)
    return { projects: viewer.projects }
  }
  const [found] = await loadProjects(pool, { names: [project] }, viewer.projects)
  if (!found) return null
  noteOutputRead(context, found)
  return { projects: [found.id] }
}

/** Notes that the caller reads the output of a project, or of all: once a minute, however often it does. */
function noteOutputRead(
  { audit, viewer }: GraphQLContext,
  project: { readonly id: string; readonly name: string } | null,
): void {
  audit.noteThrottled({
    ...{ ...callerOf(viewer), ...NO_TARGET, projectId: project?.id ?? null, projectName: project?.name ?? null },
    ...{ operation: 'logs', outcome: 'DONE', code: null, fields: [], count: 1 },
  })
}

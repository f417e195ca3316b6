import {
  CREATION,
  describeCreation,
  describeObjectChange,
  describeTreeChange,
  markOfDifference,
  type ShownDiff,
} from 'phaseline/client-model'
import { type Answer, further, quote, quotedDiff, Unanswerable } from '../answer.ts'
import { gql } from '../gql.ts'
import { locate } from '../locate.ts'
import { type Call, limit, OBJECT, PROJECT, TIME, timeOf, tool } from '../tool.ts'

const DIFF = '{ truncated differences { path change before after } }'
const OF_TREE = gql(`query McpTreeDiff($rootId: ID!, $from: DateTime!, $to: DateTime) {
  treeDiff(rootId: $rootId, fromTime: $from, toTime: $to) {
    fromTime toTime objectCount ${CREATION} objects { change kind path before after } spec ${DIFF} exports ${DIFF}
  }
}`)
const BY_USERS = gql(`query McpRequests($rootId: ID!, $since: DateTime!, $until: DateTime) {
  phaseChanges(filter: { rootId: $rootId, actors: [USER], since: $since, until: $until }, last: 5) {
    edges { node { at path to by reason message } }
  }
}`)
const OF_PROJECT = gql(`query McpProjectChanges($name: String!, $from: DateTime!, $to: DateTime) {
  project(name: $name) { treeChanges(fromTime: $from, toTime: $to) {
    fromTime toTime treeCount
    trees { rootId name addedCount removedCount changedCount failedCount root { kind } ${CREATION} }
  } }
}`)

export const whatChanged = tool({
  name: 'what_changed',
  title: 'What changed',
  description:
    'Says what has changed since a time: in the tree of an object, with its spec and who asked for what, or in all trees of a project.',
  input: { object: OBJECT.optional(), project: PROJECT, since: TIME, until: TIME.optional(), limit: limit(100, 20) },
  async run({ object, project, since, until, limit: most }, call) {
    const span = { from: timeOf(since, call.now), to: until === undefined ? null : timeOf(until, call.now) }
    if (object !== undefined) return await ofTree(object, span, most, call)
    if (project !== undefined) return await ofProject(project, span, most, call)
    throw new Unanswerable('Give an object, or a project.')
  },
})

interface Span {
  readonly from: string
  readonly to: string | null
}
async function ofTree(named: string, { from, to }: Span, most: number, { client, signal, now }: Call): Promise<Answer> {
  const { root } = await locate(client, named, signal)
  const [{ treeDiff }, { phaseChanges }] = await Promise.all([
    client.query(OF_TREE, { rootId: root.id, from, to }, { signal }),
    client.query(BY_USERS, { rootId: root.id, since: from, until: to }, { signal }),
  ])
  if (!treeDiff) throw new Unanswerable(`The log has no tree of ${named} any more.`)
  const { objects, objectCount, spec, exports, creation } = treeDiff
  const shown = objects.slice(0, most)
  return {
    lines: [
      `from ${treeDiff.fromTime} to ${treeDiff.toTime}: ${objectCount === 1 ? '1 object' : `${objectCount} objects`}`,
      ...(creation ? [quote(describeCreation(creation, now))] : []),
      ...shown.map(({ change, ...object }) => `${markOfDifference(change)} ${describeObjectChange(object)}`),
      ...further(objectCount - shown.length, 'ask with a higher limit, or for less time.'),
      ...partOf('spec', spec),
      ...partOf('exports', exports),
      ...(phaseChanges?.edges ?? []).map(
        ({ node: { at, path, to: phase, by, reason, message } }) =>
          `${at} ${path} ${phase} by ${quote(by ?? 'a user')}: ${quote(message ?? reason ?? '')}`,
      ),
    ],
    data: { rootId: root.id, objectCount, isSpecChanged: Boolean(spec?.differences.length) },
  }
}

const VALUES = 10
function partOf(what: string, diff: ShownDiff | null): readonly string[] {
  if (!diff || diff.differences.length === 0) return []
  const lines = quotedDiff(diff)
  return [`${what}:`, ...lines.slice(0, VALUES), ...further(lines.length - VALUES, 'phaseline diff shows them.')]
}

async function ofProject(
  name: string,
  { from, to }: Span,
  most: number,
  { client, signal, now }: Call,
): Promise<Answer> {
  const { project } = await client.query(OF_PROJECT, { name, from, to }, { signal })
  if (!project?.treeChanges) throw new Unanswerable(`There is no project ${name} that you may read.`)
  const { trees, treeCount, fromTime, toTime } = project.treeChanges
  const shown = trees.slice(0, most)
  return {
    lines: [
      `from ${fromTime} to ${toTime}: ${treeCount === 1 ? '1 tree' : `${treeCount} trees`}`,
      ...shown.map((tree) => quote(describeTreeChange(tree, now))),
      ...further(treeCount - shown.length, 'ask with a higher limit, or for less time.'),
    ],
    data: { treeCount, trees: shown.map(({ rootId }) => rootId) },
  }
}

import { isDeepStrictEqual } from 'node:util'
import { REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { diffJson } from '../../core/json-diff.ts'
import { gql } from '../../documents/gql.ts'
import {
  type ProjectManifest,
  type ProjectSpec,
  projectInput,
  projectSchema,
  projectSpecOf,
  type WantedProject,
  wantedProject,
  writtenProject,
} from '../../manifest/index.ts'
import {
  type Action,
  type Appliable,
  type Completed,
  ORDER,
  type Surroundings,
  untilWon,
} from '../manifests/appliable.ts'
import { readBeside } from '../manifests/read-beside.ts'
import { describeDiff } from '../objects/describe-diff.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT } from '../terminal/exit.ts'
import { PROJECT_FIELDS, readProject, type ShownProject } from './api.ts'

export const CREATE_PROJECT = gql(`mutation CreateProject($input: CreateProjectInput!) {
  answer: createProject(input: $input) { __typename ... on Project { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const UPDATE = gql(`mutation UpdateProject($input: UpdateProjectInput!) {
  answer: updateProject(input: $input) { __typename ... on Project { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

const READ = gql(`query ReadProjects($ids: [ID!]!) { nodes(ids: $ids) { ...ProjectFields } }\n${PROJECT_FIELDS}`)

const MAX_DIFFERENCES = 200

/** Projects. Parts that a document leaves out stay as they are. */
export const projects: Appliable<ProjectManifest, WantedProject, ShownProject> = {
  ...{ kind: 'Project', order: ORDER.project, schema: projectSchema },
  label: ({ name }) => `project ${name}`,
  complete: withFiles,
  apply: (session, { name, document }) =>
    untilWon(
      () => readProject(session, name),
      async (found) => {
        const judged = judge(found, document)
        const done = {
          ok: true,
          value: { action: judged.action, line: lineOf(name, judged), written: { kind: 'Project', name, ...judged } },
        } as const
        if (judged.action === 'unchanged') return done
        const input = { name, ...projectInput(document) }
        const outcome = found ? await ask(session, UPDATE, input) : await ask(session, CREATE_PROJECT, input)
        return outcome.ok ? done : outcome
      },
    ),
  async preview(session, { name, document }, { isDiff }) {
    const found = await readProject(session, name)
    const judged = judge(found, document)
    const { action } = judged
    const before: Partial<ProjectSpec> = found ? projectSpecOf(found) : {}
    const limits = { ...before.limits, ...document.limits }
    const diff = diffJson(before, { ...before, ...document, limits }, MAX_DIFFERENCES)
    session.emit({ kind: 'Project', name, ...judged, ...(isDiff ? diff : {}), dryRun: true })
    session.say(lineOf(name, { ...judged, action: action === 'unchanged' ? action : `would be ${action}` }))
    if (isDiff) session.say(...describeDiff(diff, session.paint))
    return { ok: true, value: { action, code: EXIT.ok } }
  },
  manifest: (shown) => writtenProject(shown.name, projectSpecOf(shown)),
  async *list(session, name, labels) {
    const found = labels.length > 0 ? null : await readProject(session, name)
    if (found) yield [found]
  },
  async read({ client, io }, ids) {
    const { nodes } = await client.query(READ, { ids }, { signal: io.signal })
    return nodes.map((node) => (node?.limits ? node : null))
  },
  omitted({ name, secrets, dataObjects: { edges, pageInfo } }) {
    // Others come again with the installations that export them.
    const data = edges.flatMap(({ node }) => (node.exporter ? [] : [node.name]))
    const listed = (names: readonly string[], isAll = true) => names.join(', ') + (isAll ? '' : ' …')
    const lacks = `The manifest of project ${name} lacks its`
    return [
      ...(secrets.length > 0
        ? [
            `${lacks} secrets ${listed(secrets.map((one) => one.name))}: where it is new, \`phaseline secret set ${name} NAME\` sets each.`,
          ]
        : []),
      ...(data.length > 0
        ? [
            `${lacks} data ${listed(data, !pageInfo.hasNextPage)}: where it is new, \`phaseline data set NAME JSON --project ${name}\` sets each.`,
          ]
        : []),
    ]
  },
}

/** Reads the worker's files that the document names, relative to it. */
async function withFiles(manifest: ProjectManifest, { folder, io }: Surroundings): Promise<Completed<WantedProject>> {
  const files = manifest.workerTemplate?.files ?? []
  const read = await Promise.all(
    files.map(async ({ content = '', from }) =>
      from === undefined ? ({ ok: true, text: content } as const) : await readBeside(folder, from, io.stdin),
    ),
  )
  const problems = read.flatMap((one, index) =>
    one.ok ? [] : [{ path: `workerTemplate.files.${index}.from`, message: one.message }],
  )
  if (problems.length > 0) return { ok: false, problems }
  const contents = read.map((one) => (one.ok ? one.text : ''))
  return { ok: true, value: wantedProject(manifest, contents) }
}

interface Judged {
  readonly action: Action
  /** The parts of the manifest that differ from the server. */
  readonly changed: readonly string[]
}

function judge(found: ShownProject | null, wanted: WantedProject): Judged {
  if (!found) return { action: 'created', changed: Object.keys(wanted) }
  const changed = changedParts(wanted, projectSpecOf(found))
  return { action: changed.length > 0 ? 'updated' : 'unchanged', changed }
}

function changedParts(
  { workerTemplate, subscriptions, limits, promotesTo }: WantedProject,
  is: ProjectSpec,
): readonly string[] {
  const differs = (wanted: unknown, found: unknown): boolean =>
    wanted !== undefined && !isDeepStrictEqual(wanted, found)
  const parts = {
    workerTemplate: differs(workerTemplate, is.workerTemplate),
    subscriptions: differs(subscriptions, is.subscriptions),
    limits: differs(limits && { ...is.limits, ...limits }, is.limits),
    promotesTo: differs(promotesTo, is.promotesTo),
  }
  return Object.entries(parts).flatMap(([part, isDifferent]) => (isDifferent ? [part] : []))
}

/** e.g. `project web updated (limits)`, or `project web would be updated (limits)`. */
function lineOf(name: string, { action, changed }: { readonly action: string; readonly changed: Judged['changed'] }) {
  const what = changed.length > 0 && action.endsWith('updated') ? ` (${changed.join(', ')})` : ''
  return `project ${name} ${action}${what}`
}

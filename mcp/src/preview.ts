import { duration, forecastText, nodesOf, outcomeOf, REFUSAL_FRAGMENT, words } from 'phaseline/client-model'
import { describeProblem, installationInput, type Manifest, parseManifests } from 'phaseline/manifest'
import { z } from 'zod'
import { type Answer, further, quote, quotedDiff, Unanswerable } from './answer.ts'
import { gql, type ResultOf, type VariablesOf } from './gql.ts'
import { locate, placeOf } from './locate.ts'
import { type Call, OBJECT, text } from './tool.ts'

/** The effect of a request, and all that a plan of it needs. */

export const REQUEST = {
  verb: text('One of what the tool why lists under may, such as cancel or retry. With object.', 64).optional(),
  object: OBJECT.optional(),
  flags: z.array(z.string().max(64)).max(10).optional().describe('Flags of the verb, such as cascade.'),
  manifest: text(
    'In place of a verb: the YAML of one installation, which would be created or updated.',
    500_000,
  ).optional(),
}
type Request = z.infer<z.ZodObject<typeof REQUEST>>

/** An object as a plan has read it. */
interface Version {
  readonly id: string
  readonly revision: number
  readonly generation: number
}
/** A mutation that is not sent yet, with what it was decided by. */
export interface Prepared {
  readonly verb: string
  readonly project: string
  /** e.g. `cancel default/shop`. */
  readonly title: string
  readonly mutation: string
  readonly input: Readonly<Record<string, unknown>>
  /** Empty for what does not exist yet: it is refused if it does by then. */
  readonly ifUnchanged: readonly Version[]
}
export interface Preview extends Answer {
  readonly prepared: Prepared
}

export async function preview({ verb, object, flags = [], manifest }: Request, call: Call): Promise<Preview> {
  if (manifest !== undefined && verb === undefined && object === undefined) return await ofManifest(manifest, call)
  if (manifest === undefined && verb !== undefined && object !== undefined)
    return await ofVerb(verb, object, flags, call)
  throw new Unanswerable('Give a verb and an object, or a manifest.')
}

/** Children that a plan compares besides the object and its root. */
const CHILDREN = 50
const VERSION = 'fragment Version on TreeObject { id revision generation }'
const ASKED = gql(`query McpAsked($id: ID!, $kind: ObjectKind!, $children: Int!) {
  object(id: $id) {
    ...Version path phase project { name } root { ...Version } verbs { name allowed why effect }
    children(first: $children) { totalCount edges { node { ...Version } } }
  }
  stateMachines(kind: $kind) { verbs { kind name mutation input flags { name description } } }
}\n${VERSION}`)

async function ofVerb(verb: string, named: string, flags: readonly string[], call: Call): Promise<Preview> {
  const { client, signal } = call
  const { id, kind } = await locate(client, named, signal)
  const { object, stateMachines } = await client.query(ASKED, { id, kind, children: CHILDREN }, { signal })
  if (!object) throw new Unanswerable(`${named} is gone.`)
  const { project } = object
  const judged = object.verbs.find(({ name }) => name === verb)
  const known = stateMachines.flatMap(({ verbs }) => verbs).find((one) => one.kind === kind && one.name === verb)
  if (!judged || !known) {
    const names = object.verbs.map(({ name }) => name).join(', ')
    throw new Unanswerable(`${named} has no verb ${verb}: ${names || 'it has none'}.`)
  }
  const foreign = flags.find((flag) => !known.flags.some(({ name }) => name === flag))
  if (foreign !== undefined) {
    const names = known.flags.map(({ name, description }) => `${name} (${description})`).join(', ')
    throw new Unanswerable(`${verb} has no flag ${foreign}: ${names || 'it has none'}.`)
  }
  if (!judged.allowed)
    throw new Unanswerable(`It would be refused: ${quote(judged.why ?? `${named} is ${object.phase}.`)}`)
  const children = nodesOf(object.children)
  const ifUnchanged = versionsOf([object, object.root, ...children])
  const title = `${verb} ${placeOf(object)}`
  const isDeletion = kind === 'INSTALLATION' && verb === 'delete'
  const effects = isDeletion ? planLines(await plan(call, { delete: { id } }), project.name, call.now) : []
  return {
    lines: [
      `${title} (${words(kind)}), which is ${object.phase}`,
      ...(judged.effect ? [quote(judged.effect)] : []),
      ...effects,
    ],
    data: { object: id, phase: object.phase, compared: ifUnchanged.length, children: object.children.totalCount },
    prepared: {
      ...{ verb, title, ifUnchanged, project: project.name, mutation: known.mutation },
      input: { ...(known.input as object), id, ...Object.fromEntries(flags.map((flag) => [flag, true])) },
    },
  }
}

const versionsOf = (objects: readonly Version[]): readonly Version[] => [
  ...new Map(objects.map(({ id, revision, generation }) => [id, { id, revision, generation }])).values(),
]

const PLAN = gql(`query McpPlan($input: PlanInstallationInput!) {
  planInstallation(input: $input) {
    __typename
    ... on InstallationPlan { steps { action kind path reason } blockers { message path objectCount }
      broughtCode { path message permitted } spec { truncated differences { path change before after } }
      forecast { p50 p90 runs } }
    ...Refusal
  }
}\n${REFUSAL_FRAGMENT}`)
type Plan = Extract<NonNullable<ResultOf<typeof PLAN>['planInstallation']>, { readonly __typename: 'InstallationPlan' }>

async function plan({ client, signal }: Call, input: VariablesOf<typeof PLAN>['input']): Promise<Plan> {
  const outcome = outcomeOf((await client.query(PLAN, { input }, { signal })).planInstallation)
  if (!outcome.ok)
    throw new Unanswerable(`It would be refused: ${outcome.refusal.code}: ${quote(outcome.refusal.message)}`)
  return outcome.value
}

const STEPS = 20
function planLines(
  { steps, blockers, broughtCode, spec, forecast }: Plan,
  project: string,
  now: number,
): readonly string[] {
  const expected = forecastText(forecast, now, duration, '')
  const place = (path: readonly string[]): string => [project, ...path].join('/')
  const changes = spec ? quotedDiff(spec) : []
  return [
    ...(steps.length === 0 ? ['Nothing would be done.'] : []),
    ...steps
      .slice(0, STEPS)
      .map(
        ({ action, kind, path, reason }, i) =>
          `${i + 1}. ${words(action)} ${words(kind)} ${place(path)}: ${quote(reason)}`,
      ),
    ...further(steps.length - STEPS, 'phaseline plan shows them.'),
    ...changes.slice(0, STEPS).map((line) => `spec ${line}`),
    ...further(changes.length - STEPS, 'phaseline diff shows them.'),
    ...blockers.map(
      ({ path, message, objectCount }) =>
        `would wait: ${place(path)}: ${quote(message)}${objectCount > 1 ? ` (and ${objectCount - 1} more)` : ''}`,
    ),
    ...broughtCode.flatMap(({ path, message, permitted }) =>
      permitted ? [] : [`You may not write the code of ${place(path)}: ${quote(message)}`],
    ),
    ...(expected ? [`expected: ${expected}`] : []),
  ]
}

const EXISTING = gql(`query McpExisting($project: String!, $path: [String!]!, $children: Int!) {
  objectByPath(project: $project, kind: INSTALLATION, path: $path) {
    ...Version children(first: $children) { edges { node { ...Version } } }
  }
}\n${VERSION}`)

async function ofManifest(yaml: string, call: Call): Promise<Preview> {
  const manifest = readManifest(yaml)
  const { name, spec, project = 'default' } = manifest
  const { client, signal, now } = call
  const { objectByPath: existing } = await client.query(
    EXISTING,
    { project, path: [name], children: CHILDREN },
    { signal },
  )
  const planned = await plan(
    call,
    existing ? { update: { id: existing.id, spec } } : { create: { project, name, spec } },
  )
  const ifUnchanged = existing ? versionsOf([existing, ...nodesOf(existing.children)]) : []
  const title = `${existing ? 'update' : 'create'} ${project}/${name}`
  return {
    lines: [title, ...planLines(planned, project, now)],
    data: { object: existing?.id ?? null, steps: planned.steps.length, compared: ifUnchanged.length },
    prepared: {
      ...{ verb: 'apply', project, title, ifUnchanged },
      mutation: existing ? 'updateInstallation' : 'createInstallation',
      input: { ...(existing ? { id: existing.id } : { project, name }), ...installationInput(manifest) },
    },
  }
}

function readManifest(yaml: string): Manifest {
  const parsed = parseManifests(yaml)
  if (!parsed.ok)
    throw new Unanswerable(
      parsed.problems
        .slice(0, 5)
        .map((one) => describeProblem('manifest', one))
        .join('\n'),
    )
  const [manifest, ...others] = parsed.manifests
  if (!manifest || others.length > 0 || parsed.projects.length > 0)
    throw new Unanswerable('Give one installation, and no other document.')
  return manifest
}

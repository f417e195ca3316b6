import { isDeepStrictEqual } from 'node:util'
import { type Outcome, REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import { type ProjectSpec, projectInput, projectSpecOf, type WantedProject } from '../../manifest/index.ts'
import type { PlacedProject } from '../manifests/load-manifests.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { readProject } from './api.ts'

export interface AppliedProject {
  readonly kind: 'Project'
  readonly name: string
  readonly action: 'created' | 'updated' | 'unchanged'
  /** The parts of the manifest that differ from the server. */
  readonly changed: readonly string[]
}

/** A lost race is retried; a longer series of losses is no coincidence. */
const ATTEMPTS = 5
/** Another client created or deleted the project between the read and the write. */
const LOST = ['NOT_FOUND', 'ALREADY_EXISTS']

export const CREATE_PROJECT = gql(`mutation CreateProject($input: CreateProjectInput!) {
  answer: createProject(input: $input) { __typename ... on Project { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const UPDATE = gql(`mutation UpdateProject($input: UpdateProjectInput!) {
  answer: updateProject(input: $input) { __typename ... on Project { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** Creates the project, or updates the parts that differ; with `dryRun`, only reports them. */
export async function applyProject(
  session: Session,
  { name, wanted }: PlacedProject,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<Outcome<AppliedProject>> {
  for (let attempt = 1; ; attempt += 1) {
    const judged = await judge(session, name, wanted)
    const done = { ok: true, value: { kind: 'Project', name, ...judged } } as const
    if (dryRun || judged.action === 'unchanged') return done
    const input = { name, ...projectInput(wanted) }
    const isNew = judged.action === 'created'
    const outcome = isNew ? await ask(session, CREATE_PROJECT, input) : await ask(session, UPDATE, input)
    if (outcome.ok) return done
    if (attempt >= ATTEMPTS || !LOST.includes(outcome.refusal.code)) return outcome
  }
}

async function judge(
  session: Session,
  name: string,
  wanted: WantedProject,
): Promise<Pick<AppliedProject, 'action' | 'changed'>> {
  const project = await readProject(session, name)
  if (!project) return { action: 'created', changed: Object.keys(wanted) }
  const changed = changedParts(wanted, projectSpecOf(project))
  return { action: changed.length > 0 ? 'updated' : 'unchanged', changed }
}

function changedParts({ workerTemplate, subscriptions, limits }: WantedProject, is: ProjectSpec): readonly string[] {
  const differs = (wanted: unknown, found: unknown): boolean =>
    wanted !== undefined && !isDeepStrictEqual(wanted, found)
  const parts = {
    workerTemplate: differs(workerTemplate, is.workerTemplate),
    subscriptions: differs(subscriptions, is.subscriptions),
    limits: differs(limits && { ...is.limits, ...limits }, is.limits),
  }
  return Object.entries(parts).flatMap(([part, isDifferent]) => (isDifferent ? [part] : []))
}

/** e.g. `project web updated (limits)`; in a dry run `project web would be updated (limits)`. */
export function describeApplied({ name, action, changed }: AppliedProject, dryRun = false): string {
  const what = changed.length > 0 && action === 'updated' ? ` (${changed.join(', ')})` : ''
  const would = action === 'unchanged' ? 'unchanged' : `would be ${action}`
  return `project ${name} ${dryRun ? would : action}${what}`
}
